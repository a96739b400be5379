package engine

import (
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

func TestOutputLimit(t *testing.T) {
	if l := newOutputLimit(nil); l.run != 2<<30 || l.stream != node.MaxOutput {
		t.Errorf("by default %d, %d", l.run, l.stream)
	}
	l := newOutputLimit(&workflow.Runtime{MaxOutput: 3200})
	l.adopt(1000)
	first, second := l.attempt(), l.attempt()
	for i, c := range []struct {
		count      func(n int) (int, bool)
		n, allowed int
		over       bool
	}{
		{counting(first), 2000, 2000, false},
		{counting(second), 200, 200, false}, // the run has 3200 now
		{counting(first), 1, 0, true},
		{counting(second), 1, 0, true}, // it has had its sixteenth of 3200 already
		{counting(l.attempt()), 201, 0, true},
		{counting(l.attempt()), 200, 200, false},
	} {
		if allowed, over := c.count(c.n); allowed != c.allowed || over != c.over {
			t.Errorf("%d: %d of %d, over %v; want %d, %v", i, allowed, c.n, over, c.allowed, c.over)
		}
	}
	third := l.attempt()
	for range 4 {
		_, _ = third(50)
	}
	if allowed, f := third(1); allowed != 0 || f == nil || f.Details["limit"] != int64(3200) {
		t.Errorf("%d, %v", allowed, f)
	}
	l.adopt(5000) // more than there may be: it is not refused
	if allowed, f := l.attempt()(10); allowed != 10 || f != nil {
		t.Errorf("%d, %v", allowed, f)
	}
}

func counting[F any](count func(n int) (int, F)) func(n int) (int, bool) {
	return func(n int) (int, bool) {
		allowed, f := count(n)
		return allowed, any(f) != any(*new(F))
	}
}
