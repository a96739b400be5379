package veloflux

import (
	"context"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pflow-suite/pflow/pkg/process"
)

func TestTemporaryIDsAreReadBack(t *testing.T) {
	at := time.UnixMilli(1_790_000_000_123)
	id := temporaryID{process.Identity{Machine: "web-1-0123456789ab", PID: 42, Started: "987654"}, at, "abc234"}
	const want = "__veloflux_mcp_verify__web-1-0123456789ab_42_987654_1790000000123_abc234"
	if id.String() != want {
		t.Errorf("got %s", id)
	}
	if back, ok := parseTemporary(want); !ok || back != id {
		t.Errorf("read back as %+v, %v", back, ok)
	}
	for _, other := range []string{
		"", "p1", "__nl2pipeline_tmp__0123", temporaryPrefix, want + "_x", want[1:], strings.Replace(want, "_42_", "_+42_", 1),
		strings.Replace(want, "_42_", "_042_", 1), strings.Replace(want, "_42_", "_x_", 1), temporaryPrefix + "a_1_2_3",
		strings.ToUpper(want), " " + want, strings.Replace(want, "web-1", "web/1", 1), strings.Replace(want, "web-1-0123456789ab", "", 1),
		strings.Replace(want, "abc234", "", 1), strings.Replace(want, "abc234", "日本", 1),
	} {
		if got, ok := parseTemporary(other); ok {
			t.Errorf("%q is taken for a temporary id: %+v", other, got)
		}
	}
}

func TestLeftoversAreTold(t *testing.T) {
	now := time.Now()
	temporary := newTemporaries(nil, nil)
	self := process.Self()
	if self.Started == "0" {
		t.Skip("this system does not tell when a process was started")
	}
	gone := self
	gone.Started += "1"
	elsewhere := process.Identity{Machine: "elsewhere-0123456789ab", PID: os.Getpid(), Started: "1"}
	for _, tc := range []struct {
		name  string
		owner process.Identity
		age   time.Duration
		want  bool
	}{
		{"a live process's", self, time.Second, false},
		{"a live process's that takes long", self, time.Hour, false},
		{"a dead process's", gone, time.Second, true},
		{"another machine's", elsewhere, 9 * time.Minute, false},
		{"another machine's, old", elsewhere, 11 * time.Minute, true},
		{"another machine's whose clock is ahead", elsewhere, -time.Hour, false},
	} {
		if got := temporary.leftover(temporaryID{tc.owner, now.Add(-tc.age), "r"}, now); got != tc.want {
			t.Errorf("%s: leftover %v", tc.name, got)
		}
	}
}

// TestOwnLeftoversAreTold asserts that an id of this runtime counts as left behind once it has no user.
func TestOwnLeftoversAreTold(t *testing.T) {
	temporary := newTemporaries(nil, nil)
	ids := make(chan temporaryID, 1)
	temporary.run(func(id string) {
		parsed, _ := parseTemporary(id)
		if temporary.leftover(parsed, time.Now().Add(time.Hour)) {
			t.Error("one that is in use is taken for left behind")
		}
		ids <- parsed
	})
	if err := temporary.close(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := <-ids
	if !temporary.leftover(id, time.Now()) {
		t.Error("an id without a user does not count as left behind")
	}
	if newTemporaries(nil, nil).leftover(id, time.Now()) {
		t.Error("one of another runtime of this process is taken for left behind")
	}
}

// TestDeletionsAreTriedAgain has the Manager answer a series of deletions, and counts them.
func TestDeletionsAreTriedAgain(t *testing.T) {
	busy := &Error{Code: CodeConflict, Details: map[string]any{"status": 409}}
	down := &Error{Code: CodeManagerHTTP}
	gone := &Error{Code: CodeNotFound, Details: map[string]any{"status": 404}}
	for _, tc := range []struct {
		name      string
		uncertain bool
		answers   []error // the last one is given for ever
		reported  bool    // whether remove returns the first failure
		min, max  int     // deletions
		took      time.Duration
	}{
		{"done", false, []error{nil}, false, 1, 1, 0},
		{"not there", false, []error{gone}, false, 1, 1, 0},
		{"busy", false, []error{busy, busy, nil}, true, 3, 3, time.Second},
		{"down", false, []error{down, down, gone}, true, 3, 3, time.Second},
		{"down for ever", false, []error{down}, true, 20, 40, giveUp + 2*lastRetry},
		{"forbidden", false, []error{&Error{Code: CodeManagerHTTP, Details: map[string]any{"status": 403}}}, true, 1, 1, 0},
		{"not there yet", true, []error{gone, gone, gone, nil}, false, 4, 4, 2 * time.Second},
		{"never there", true, []error{gone}, false, 7, 10, lookFor + lastRetry},
		{"made by a create that is not answered", true, []error{nil}, false, 1, 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				temporary := newTemporaries(func(context.Context, string) error {
					asked++
					return tc.answers[min(asked, len(tc.answers))-1]
				}, slog.New(slog.DiscardHandler))
				began := time.Now()
				if _, err := temporary.remove(t.Context(), "id", tc.uncertain); (err != nil) != tc.reported {
					t.Errorf("reported %v", err)
				}
				temporary.work.Wait()
				if took := time.Since(began); asked < tc.min || asked > tc.max || took > tc.took {
					t.Errorf("%d deletions in %s", asked, took)
				}
			})
		})
	}
}

func TestTemporaryIDsAreTheirOwn(t *testing.T) {
	temporary := newTemporaries(nil, nil)
	seen := map[string]bool{}
	ids := make(chan string)
	for range 100 {
		if !temporary.run(func(id string) { ids <- id }) {
			t.Fatal("closed")
		}
		id := <-ids
		if seen[id] || !regexp.MustCompile(`^[a-z0-9_-]{60,160}$`).MatchString(id) {
			t.Fatalf("%q", id)
		}
		if _, ok := parseTemporary(id); !ok {
			t.Fatalf("%q cannot be read", id)
		}
		seen[id] = true
	}
	if err := temporary.close(t.Context()); err != nil {
		t.Error(err)
	}
	if temporary.run(func(string) { t.Error("runs after the end") }) {
		t.Error("begins after the end")
	}
}
