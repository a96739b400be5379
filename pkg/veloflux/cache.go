package veloflux

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// maxCached is how many documents a cache keeps; a client may ask for the schema of any number of streams.
const maxCached = 64

// cache keeps documents for a while. Several that ask for the same one at the same time share one fetch; errors are never
// kept.
type cache struct {
	ttl    time.Duration
	most   int64 // bytes of a document that is kept
	flight singleflight.Group

	mu   sync.Mutex
	kept map[string]cached
}

// cached is a document and when it stops to be fresh.
type cached struct {
	document json.RawMessage
	until    time.Time
}

func newCache(ttl time.Duration, most int64) *cache {
	return &cache{ttl: ttl, most: most, kept: map[string]cached{}}
}

// get gives the document of a key; hit says that it was kept. The fetch does not end with the context of the one who was
// first to ask, for others may be waiting for it; its errors go to all of them.
func (c *cache) get(ctx context.Context, key string, fetch func(context.Context) (json.RawMessage, error)) (found cached, hit bool, err error) {
	if c.ttl <= 0 {
		document, err := fetch(ctx)
		return cached{document: document}, false, err
	}
	if found, ok := c.fresh(key); ok {
		return found, true, nil
	}
	done := c.flight.DoChan(key, func() (any, error) {
		if found, ok := c.fresh(key); ok { // of a flight that has just ended
			return found, nil
		}
		document, err := fetch(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		return c.keep(key, document), nil
	})
	select {
	case r := <-done:
		if r.Err != nil {
			return cached{}, false, r.Err
		}
		return r.Val.(cached), false, nil //nolint:forcetypeassert // made above
	case <-ctx.Done():
		return cached{}, false, ended("reading "+key, ctx.Err())
	}
}

func (c *cache) fresh(key string) (cached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.kept[key]
	return found, ok && time.Now().Before(found.until)
}

func (c *cache) keep(key string, document json.RawMessage) cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if int64(len(document)) > c.most {
		return cached{document: document}
	}
	if _, ok := c.kept[key]; !ok && len(c.kept) >= maxCached {
		c.makeRoom(now)
	}
	kept := cached{document, now.Add(c.ttl)}
	c.kept[key] = kept
	return kept
}

// makeRoom drops what is not fresh any more, or else what will be so first.
func (c *cache) makeRoom(now time.Time) {
	oldest := ""
	for key, entry := range c.kept {
		if !now.Before(entry.until) {
			delete(c.kept, key)
		} else if oldest == "" || entry.until.Before(c.kept[oldest].until) {
			oldest = key
		}
	}
	if len(c.kept) >= maxCached {
		delete(c.kept, oldest)
	}
}
