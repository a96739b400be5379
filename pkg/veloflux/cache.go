package veloflux

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// maxCached is the most documents that a cache keeps. A client may ask for the schemas of any number of streams.
const maxCached = 64

// cache keeps documents for a limited time. Concurrent requests for the same document share one fetch. Errors are not
// kept.
type cache struct {
	ttl      time.Duration
	maxBytes int64 // larger documents are not kept
	flight   singleflight.Group

	mu   sync.Mutex
	kept map[string]cacheEntry
}

// cacheEntry is a document and the time until which it is fresh.
type cacheEntry struct {
	document json.RawMessage
	until    time.Time
}

func newCache(ttl time.Duration, most int64) *cache {
	return &cache{ttl: ttl, maxBytes: most, kept: map[string]cacheEntry{}}
}

// get returns the document of a key; hit reports whether it came from the cache. The fetch is not cancelled with ctx,
// because other callers may be waiting for it. Its error goes to all of them.
func (c *cache) get(ctx context.Context, key string, fetch func(context.Context) (json.RawMessage, error)) (found cacheEntry, hit bool, err error) {
	if c.ttl <= 0 {
		document, err := fetch(ctx)
		return cacheEntry{document: document}, false, err
	}
	if found, ok := c.fresh(key); ok {
		return found, true, nil
	}
	done := c.flight.DoChan(key, func() (any, error) {
		if found, ok := c.fresh(key); ok { // another flight has just ended
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
			return cacheEntry{}, false, r.Err
		}
		return r.Val.(cacheEntry), false, nil //nolint:forcetypeassert // the function above returns a cacheEntry
	case <-ctx.Done():
		return cacheEntry{}, false, contextEnded("reading "+key, ctx.Err())
	}
}

func (c *cache) fresh(key string) (cacheEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.kept[key]
	return found, ok && time.Now().Before(found.until)
}

func (c *cache) keep(key string, document json.RawMessage) cacheEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if int64(len(document)) > c.maxBytes {
		return cacheEntry{document: document}
	}
	if _, ok := c.kept[key]; !ok && len(c.kept) >= maxCached {
		c.evict(now)
	}
	kept := cacheEntry{document, now.Add(c.ttl)}
	c.kept[key] = kept
	return kept
}

// evict drops all expired entries, or the one that expires first if none has expired.
func (c *cache) evict(now time.Time) {
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
