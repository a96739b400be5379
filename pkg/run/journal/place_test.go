package journal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/home"
)

func placesHome(t *testing.T) *home.Home {
	t.Helper()
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// takePlace takes a place that must be free, or fails the test.
func takePlace(t *testing.T, take func(ctx context.Context, queued func() error) (func(), error)) func() {
	t.Helper()
	release, err := take(t.Context(), func() error { return errors.New("no place is free") })
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func TestPlacesAreLimited(t *testing.T) {
	const most, runs = 3, 40
	h := placesHome(t)
	var now, highest atomic.Int64
	var all sync.WaitGroup
	for range runs {
		all.Go(func() {
			release, err := TakePlace(t.Context(), h, func() int { return most }, func() error { return nil })
			if err != nil {
				t.Error(err)
				return
			}
			n := now.Add(1)
			for old := highest.Load(); n > old && !highest.CompareAndSwap(old, n); old = highest.Load() {
			}
			<-time.After(time.Millisecond) // others take a place meanwhile, if they can
			now.Add(-1)
			release()
		})
	}
	all.Wait()
	if highest.Load() > most {
		t.Errorf("%d runs had a place, want at most %d", highest.Load(), most)
	}
}

func TestPlacesAreGivenInOrder(t *testing.T) {
	const runs = 5
	h := placesHome(t)
	one := func() int { return 1 }
	release := takePlace(t, func(ctx context.Context, queued func() error) (func(), error) { return TakePlace(ctx, h, one, queued) })
	got := make(chan int, runs)
	waits := make(chan struct{})
	for i := range runs {
		go func() {
			free, err := TakePlace(t.Context(), h, one, func() error {
				waits <- struct{}{}
				return nil
			})
			if err != nil {
				t.Error(err)
				return
			}
			got <- i
			free()
		}()
		<-waits // its lock is in the queue of the kernel, or it is the first in line
	}
	release()
	for want := range runs {
		if i := <-got; i != want {
			t.Errorf("run %d got place %d", i, want)
		}
	}
}

func TestAPlaceDependsOnTheLimitOfTheMoment(t *testing.T) {
	h := placesHome(t)
	var limit atomic.Int64
	limit.Store(3)
	take := func(ctx context.Context, queued func() error) (func(), error) {
		return TakePlace(ctx, h, func() int { return int(limit.Load()) }, queued)
	}
	var held []func()
	for range 3 {
		held = append(held, takePlace(t, take))
	}
	limit.Store(1) // places of the larger limit count
	held[0]()
	held[1]()
	waits, got := make(chan struct{}, 1), make(chan func(), 1)
	go func() {
		free, err := take(t.Context(), func() error {
			waits <- struct{}{}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		got <- free
	}()
	<-waits
	limit.Store(2)
	(<-got)()
	held[2]()
	limit.Store(0)
	takePlace(t, take)()
}

func TestAWaitForAPlaceEnds(t *testing.T) {
	h := placesHome(t)
	one := func() int { return 1 }
	stop := errors.New("enough")
	release := takePlace(t, func(ctx context.Context, queued func() error) (func(), error) { return TakePlace(ctx, h, one, queued) })
	for range 2 { // the first has the turn, the second waits for it
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		waits, ended := make(chan struct{}), make(chan error)
		go func() {
			_, err := TakePlace(ctx, h, one, func() error {
				close(waits)
				return nil
			})
			ended <- err
		}()
		<-waits
		if _, err := TakePlace(t.Context(), h, one, func() error { return stop }); !errors.Is(err, stop) {
			t.Errorf("a run that must not wait: %v", err)
		}
		cancel(stop)
		if err := <-ended; !errors.Is(err, stop) {
			t.Errorf("%v", err)
		}
	}
	release()
	free, err := TakePlace(t.Context(), h, one, func() error { return nil }) // the turn may still be on its way to those that gave up
	if err != nil {
		t.Fatal(err)
	}
	free()
}
