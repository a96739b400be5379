package store

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

var admissions = flag.Int("admissions", 150, "how many runs TestNotOneRunTooMany admits")

// Every decision is the one that a simple model makes, which remembers all runs that were admitted.
func TestNotOneRunTooMany(t *testing.T) {
	s, c := newStore(t)
	rng := rand.New(rand.NewPCG(1, 2))
	workflows := max(*admissions/400, 5)
	type token struct{ text, workflow string }
	var tokens []token
	for i := range workflows {
		for range 3 {
			name := "w" + strconv.Itoa(i)
			tokens = append(tokens, token{add(t, s, name), name})
		}
	}
	ofToken, ofWorkflow := map[string][]time.Time{}, map[string][]time.Time{}
	later := func(times []time.Time, than time.Time) int {
		return len(slices.DeleteFunc(slices.Clone(times), func(at time.Time) bool { return !at.After(than) }))
	}
	began, admitted, refused := time.Now(), 0, 0
	for admitted < *admissions {
		switch rng.IntN(100) {
		case 0:
			c.add(time.Duration(rng.IntN(90_000)) * time.Millisecond)
		case 1:
			if rng.IntN(20) == 0 {
				c.add(time.Duration(rng.IntN(20)) * time.Hour)
			}
		default:
			c.add(time.Duration(rng.IntN(3000/len(tokens)+2)) * time.Millisecond)
		}
		one := tokens[rng.IntN(min(len(tokens), 30))]
		if rng.IntN(3) == 0 {
			one = tokens[rng.IntN(len(tokens))]
		}
		now := c.get()
		day := now.Truncate(24 * time.Hour)
		want := later(ofToken[one.text], now.Add(-Window)) < PerWindow && later(ofWorkflow[one.workflow], day.Add(-time.Nanosecond)) < PerDay
		got, _ := admits(t, s, one.text)
		if got != want {
			t.Fatalf("after %d runs: admitted is %v, expected %v", admitted, got, want)
		}
		if !got {
			refused++
			continue
		}
		admitted++
		ofToken[one.text] = append(ofToken[one.text], now)
		ofWorkflow[one.workflow] = append(ofWorkflow[one.workflow], now)
		if times := ofToken[one.text]; len(times) > 4*PerWindow {
			ofToken[one.text] = slices.Clone(times[len(times)-2*PerWindow:])
		}
		if times := ofWorkflow[one.workflow]; len(times) > 4*PerDay {
			ofWorkflow[one.workflow] = slices.Clone(times[len(times)-2*PerDay:])
		}
		if admitted%10_000 == 0 {
			if _, err := s.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	t.Logf("%d admitted and %d refused in %s", admitted, refused, time.Since(began).Round(time.Millisecond))
}
