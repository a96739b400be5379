package journal

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

func hold(t *testing.T, h *home.Home, key string) *Key {
	t.Helper()
	k := NewKey(h, key)
	if err := k.Hold(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Release)
	return k
}

func TestAKeyNamesTheLiveRunThatWasStartedForIt(t *testing.T) {
	h := tempHome(t)
	if NewKey(h, "k").Live() != nil || exists(h.Dir()) {
		t.Error("a key that no run was started for")
	}
	k := hold(t, h, "k")
	if k.Live() != nil {
		t.Error("a key for which no run was started")
	}
	live := startElsewhere(t, h)
	if err := k.Set(live.rec.ID); err != nil {
		t.Fatal(err)
	}
	if got := NewKey(h, "k").Live(); got == nil || got.ID != live.rec.ID {
		t.Errorf("%+v", got)
	}
	if NewKey(h, "other").Live() != nil {
		t.Error("another key has the run")
	}
	live.tell(t, "die")
	_ = live.Wait()
	if got := k.Live(); got != nil {
		t.Errorf("a run that is dead: %+v", got)
	}
	for _, content := range []string{"", "nonsense", "../" + live.rec.ID, strings.Repeat("x", 1<<20)} {
		if err := os.WriteFile(k.path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if k.Live() != nil {
			t.Errorf("%.20q is a run", content)
		}
	}
}

func TestAKeyIsHeldByOneAlone(t *testing.T) {
	h := tempHome(t)
	k := hold(t, h, "k")
	hold(t, h, "other").Release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := NewKey(h, "k").Hold(ctx); err == nil || NewKey(h, "k").Free() {
		t.Error("a second one holds the key")
	}
	k.Release()
	if !NewKey(h, "k").Free() || !NewKey(h, "other").Free() || !NewKey(h, "new").Free() || exists(NewKey(h, "new").path) {
		t.Error("a key that no process holds is not free")
	}
	hold(t, h, "k")
}

// Hold locks the file that others find, even if another file was removed between being opened and being locked.
func TestAKeyThatWasCollectedIsNotCurrent(t *testing.T) {
	h := tempHome(t)
	k := hold(t, h, "k")
	if !k.current() {
		t.Error("a key that is held")
	}
	if err := os.Remove(k.path); err != nil {
		t.Fatal(err)
	}
	if k.current() {
		t.Error("a key that is gone")
	}
	if hold(t, h, "k"); k.current() {
		t.Error("a key that another holds")
	}
}

// Of many processes that start a run for one key at the same time, one does, even while keys are collected.
func TestOneRunIsStartedForAKey(t *testing.T) {
	h := tempHome(t)
	stop := make(chan struct{})
	var collecting, starting sync.WaitGroup
	collecting.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				collectKeys(h, time.Now().Add(2*keyAge))
			}
		}
	})
	for range 20 {
		var started atomic.Int32
		var mu sync.Mutex
		var run *Writer
		seen := map[string]bool{}
		for range 20 {
			starting.Go(func() {
				k := NewKey(h, "k")
				if err := k.Hold(t.Context()); err != nil {
					t.Error(err)
					return
				}
				defer k.Release()
				live := k.Live()
				if live == nil {
					r, err := Create(h, Options{})
					if err != nil {
						t.Error(err)
						return
					}
					if err := errors.Join(k.Set(r.ID), r.Append(&event.Event{Event: event.RunStarted})); err != nil {
						t.Error(err)
					}
					started.Add(1)
					live, run = find(t, h, r.ID), r
				}
				mu.Lock()
				defer mu.Unlock()
				seen[live.ID] = true
			})
		}
		starting.Wait()
		if started.Load() != 1 || len(seen) != 1 {
			t.Fatalf("%d runs were started, %d seen", started.Load(), len(seen))
		}
		run.Close()
	}
	close(stop)
	collecting.Wait()
}

func TestKeysOfRunsThatAreOverAreCollected(t *testing.T) {
	h := tempHome(t)
	live := startElsewhere(t, h)
	over := create(t, h)
	over.Close()
	for key, id := range map[string]string{"live": live.rec.ID, "over": over.ID, "held": over.ID, "none": ""} {
		k := hold(t, h, key)
		if err := k.Set(id); err != nil {
			t.Fatal(err)
		}
		k.Release()
	}
	hold(t, h, "held")
	collect(t, h, Limits{OlderThan: -1, Keep: -1}, time.Now())
	if last := NewKey(h, "over").Last(); last == nil || last.ID != over.ID {
		t.Errorf("the key of a run that has just ended leads to %v", last)
	}
	for _, dry := range []bool{true, false} {
		collect(t, h, Limits{OlderThan: -1, Keep: -1, DryRun: dry}, time.Now().Add(2*keyAge))
		for key, stays := range map[string]bool{"live": true, "held": true, "over": dry, "none": dry} {
			if exists(NewKey(h, key).path) != stays {
				t.Errorf("dry run %v: key %s is there: %v", dry, key, !stays)
			}
		}
	}
	hold(t, h, "over")
}

func TestCheckKey(t *testing.T) {
	for key, ok := range map[string]bool{
		"k": true, "deploy 2026-01-01": true, "\x00/../": true, strings.Repeat("x", 256): true,
		"": false, " \t\n": false, strings.Repeat("x", 257): false,
	} {
		if err := CheckKey(key); (err == nil) != ok || err != nil && fault.From(err).Type != fault.Usage {
			t.Errorf("%.20q: %v", key, err)
		}
	}
}
