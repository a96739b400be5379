package runner

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// A run whose id cannot be reported is removed. Until then no other process gets its key, so none waits for a run that never goes on.
func TestNoRunIsAttachedToBeforeItIsAcknowledged(t *testing.T) {
	p := newPlace(t)
	path, key, gone := p.write("w.json", twice), "k", errors.New("the reader is gone")
	l, err := p.resolve(Source{Workflow: path, Key: &key})
	p.check(err)
	_, err = l.Execute(t.Context(), Observer{Started: func(string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		other := journal.NewKey(p.Home, key)
		if err := other.Hold(ctx); err == nil {
			other.Release()
			t.Error("another process holds the key")
		}
		return gone
	}})
	var refused *NotStartedError
	if !errors.As(err, &refused) || !errors.Is(err, gone) {
		t.Error(err)
	}
	if runs, err := journal.List(p.Home); err != nil || len(runs) > 0 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	if l, err = p.resolve(Source{Workflow: path, Key: &key}); err != nil || l.Attach != "" {
		t.Fatalf("%+v, %v", l, err)
	}
	started := ""
	_, err = l.Execute(t.Context(), Observer{Started: func(id string) error { started = id; return nil }})
	p.check(err)
	if last := journal.NewKey(p.Home, key).Last(); last == nil || last.ID != started {
		t.Errorf("the key leads to %v, not to %s", last, started)
	}
}
