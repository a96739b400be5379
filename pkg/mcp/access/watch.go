package access

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/home"
)

// lookEvery is how often the tokens are looked at while something goes on by them. Another process removes them.
const lookEvery = 500 * time.Millisecond

// Watch ends what goes on by tokens that are removed, and by sessions that end.
type Watch struct {
	Home *home.Home

	mu      sync.Mutex
	looking bool
	open    map[*bound]bool
}

// bound is something that goes on by a token.
type bound struct {
	find func([]Token) *Token
	stop context.CancelCauseFunc
	why  error
}

// Bind returns a context that ends within a second after find finds no token any more, or after the tokens can no longer be read. Its cause
// then is why. end must be called.
func (w *Watch) Bind(ctx context.Context, find func([]Token) *Token, why error) (_ context.Context, end func()) {
	ctx, stop := context.WithCancelCause(ctx)
	b := &bound{find, stop, why}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[*bound]bool{}
	}
	w.open[b] = true
	if !w.looking {
		w.looking = true
		go w.look()
	}
	return ctx, func() {
		stop(nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.open, b)
	}
}

// look looks at the tokens until nothing goes on by one.
func (w *Watch) look() {
	clock := time.NewTicker(lookEvery)
	defer clock.Stop()
	for range clock.C {
		w.mu.Lock()
		open := slices.Collect(maps.Keys(w.open))
		w.looking = len(open) > 0
		w.mu.Unlock()
		if len(open) == 0 {
			return
		}
		tokens, err := List(w.Home)
		for _, b := range open {
			if err != nil || b.find(tokens) == nil {
				b.stop(b.why)
			}
		}
	}
}
