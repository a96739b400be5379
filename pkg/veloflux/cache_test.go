package veloflux

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func fetching(text string) func(context.Context) (json.RawMessage, error) {
	return func(context.Context) (json.RawMessage, error) { return json.RawMessage(text), nil }
}

func TestCacheKeepsUntilTheTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(time.Minute, 10)
		for _, step := range []struct {
			after time.Duration
			fetch string
			want  string
			hit   bool
		}{{0, "1", "1", false}, {0, "2", "1", true}, {59 * time.Second, "3", "1", true}, {time.Second, "4", "4", false}, {0, "5", "4", true}} {
			time.Sleep(step.after)
			got, hit, err := c.get(t.Context(), "k", fetching(step.fetch))
			if string(got.document) != step.want || hit != step.hit || err != nil {
				t.Errorf("%+v: got %s, hit %v, %v", step, got.document, hit, err)
			}
		}
		if left := time.Until(must(c.get(t.Context(), "k", fetching("6"))).until); left != time.Minute {
			t.Errorf("fresh for %s", left)
		}
	})
}

func must(c cacheEntry, _ bool, err error) cacheEntry {
	if err != nil {
		panic(err)
	}
	return c
}

func TestCacheOfNoTimeAsksEachTime(t *testing.T) {
	c := newCache(0, 10)
	for _, text := range []string{"1", "2"} {
		if got, hit, err := c.get(t.Context(), "k", fetching(text)); string(got.document) != text || hit || err != nil {
			t.Errorf("got %s, hit %v, %v", got.document, hit, err)
		}
	}
}

func TestCacheKeepsNoError(t *testing.T) {
	c := newCache(time.Hour, 10)
	broken := errors.New("broken")
	for range 2 {
		if _, _, err := c.get(t.Context(), "k", func(context.Context) (json.RawMessage, error) { return nil, broken }); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
	if got, hit, err := c.get(t.Context(), "k", fetching("1")); string(got.document) != "1" || hit || err != nil {
		t.Errorf("after an error: %s, hit %v, %v", got.document, hit, err)
	}
}

func TestCacheKeepsNothingLarge(t *testing.T) {
	c := newCache(time.Hour, 10)
	for range 2 {
		if got, hit, err := c.get(t.Context(), "k", fetching(`"12345678 "`)); len(got.document) != 11 || hit || err != nil {
			t.Errorf("got %s, hit %v, %v", got.document, hit, err)
		}
	}
}

func TestCacheSharesOneFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(time.Hour, 10)
		fetches := 0
		ask := func(ctx context.Context) (cacheEntry, bool, error) {
			return c.get(ctx, "k", func(ctx context.Context) (json.RawMessage, error) {
				fetches++
				time.Sleep(time.Second)
				return json.RawMessage(`1`), ctx.Err()
			})
		}
		first, leave := context.WithCancel(t.Context())
		var left error
		var readers sync.WaitGroup
		readers.Go(func() { _, _, left = ask(first) })
		synctest.Wait()
		for range 50 {
			readers.Go(func() {
				if got, hit, err := ask(t.Context()); string(got.document) != "1" || hit || err != nil {
					t.Errorf("got %s, hit %v, %v", got.document, hit, err)
				}
			})
		}
		synctest.Wait()
		leave() // the others still get it
		readers.Wait()
		if e := AsError(left); !errors.Is(left, context.Canceled) || e.Code != CodeToolFailed {
			t.Errorf("the one who went away got %v", left)
		}
		if fetches != 1 {
			t.Errorf("%d fetches", fetches)
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(time.Hour, 10)
		for i := range 3 * maxCached {
			time.Sleep(time.Second)
			must(c.get(t.Context(), strconv.Itoa(i), fetching("1")))
		}
		if len(c.kept) != maxCached {
			t.Errorf("%d documents are kept", len(c.kept))
		}
		if _, hit, _ := c.get(t.Context(), strconv.Itoa(3*maxCached-1), fetching("1")); !hit {
			t.Error("the newest is not kept")
		}
		time.Sleep(2 * time.Hour)
		must(c.get(t.Context(), "new", fetching("1")))
		if len(c.kept) != 1 {
			t.Errorf("%d documents are kept when all but one are old", len(c.kept))
		}
	})
}
