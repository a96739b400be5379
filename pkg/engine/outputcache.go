package engine

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// outputCache serves the nodes that ask for the cache.
type outputCache struct {
	// cache may be nil.
	cache Cache
	runID string
	// dir is the run's working directory.
	dir   string
	store *store
	log   *slog.Logger
}

// wanted reports whether a node uses the cache.
func (c *outputCache) wanted(nr *nodeRun) bool { return nr.node.Cache != nil && c.cache != nil }

// get returns the outputs of a node from an earlier run, and that run, unless anything has changed since.
func (c *outputCache) get(nr *nodeRun) (kept json.RawMessage, run string, ok bool) {
	if !c.wanted(nr) {
		return nil, "", false
	}
	outputs, run, ok := c.cache.Get(c.key(nr), time.Duration(nr.node.Cache.TTL))
	if !ok {
		return nil, "", false
	}
	kept, redacted, err := c.store.keep(event.Escape(outputs))
	return kept, run, err == nil && !redacted
}

// put stores a node's outputs for later runs, unless they miss a secret or are not a full success.
func (c *outputCache) put(r *result, outputs json.RawMessage) {
	nr := r.run
	if !c.wanted(nr) || r.redacted || len(nr.degradations) > 0 || r.node.Action != workflow.ActionDefault {
		return
	}
	plain, err := c.store.plain(outputs)
	if err == nil {
		err = c.cache.Put(c.key(nr), c.runID, plain)
	}
	if err != nil {
		c.log.Warn("a node's outputs could not be cached", "node", nr.id(), "error", err)
	}
}

// key returns a node's key in the cache: its digest, and the folder that its relative paths start from.
func (c *outputCache) key(nr *nodeRun) string {
	return hash(rawjson.Quote(nr.digest), rawjson.Quote(c.dir))
}
