package engine

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// outputCache serves the nodes that ask for the cache.
type outputCache struct {
	// cache may be nil. ignored is Config.NoCache.
	cache   Cache
	ignored bool
	clock   *clock
	// from is what earlier runs did, or nil, and only the path of the only node that is executed, or empty.
	from  *resume.Memory
	only  string
	runID string
	// dir is the run's working directory.
	dir   string
	store *store
	// output counts the outputs that are taken from the cache.
	output *outputLimit
	log    *slog.Logger
}

// wanted reports whether a node uses the cache.
func (c *outputCache) wanted(nr *nodeRun) bool { return nr.node.Cache != nil && c.cache != nil }

// get returns the outputs that a node, or an item of its batch, with the given digest had in an earlier run, that run, and when it was. It
// returns none if somebody has asked to run the node.
func (c *outputCache) get(nr *nodeRun, digest string) (kept json.RawMessage, run, at string, ok bool) {
	if path := nr.path(); !c.wanted(nr) || path == c.only || c.from.Reruns(path) > 0 || c.from.AskedFor(path, path) {
		return nil, "", "", false
	}
	outputs, run, stored, ok := c.cache.Get(c.key(digest), time.Duration(nr.node.Cache.TTL))
	if !ok {
		return nil, "", "", false
	}
	c.output.adopt(len(outputs))
	kept, redacted, err := c.store.keep(event.Escape(outputs))
	return kept, run, stored.UTC().Format(time.RFC3339Nano), err == nil && !redacted
}

// since returns the time since which an earlier result of a node counts as cached, or the zero time if the node has no cache to read.
func (c *outputCache) since(nr *nodeRun) (none time.Time) {
	if !c.wanted(nr) || c.ignored {
		return none
	}
	return c.clock.now().Add(-time.Duration(nr.node.Cache.TTL))
}

// cacheable reports whether the outputs of a task may be stored for later runs: its node asks for that, they miss no secret
// and are a full success. degradations are the reasons why they are not.
func (c *outputCache) cacheable(r *result, degradations []string) bool {
	return c.wanted(r.run) && !r.redacted && len(degradations) == 0 && r.node.Action == workflow.ActionDefault
}

// put stores the outputs of a node, or of an item of its batch, for later runs. It may be called without the lock.
func (c *outputCache) put(nr *nodeRun, digest string, outputs json.RawMessage) {
	plain, err := c.store.plain(outputs)
	if err == nil {
		err = c.cache.Put(c.key(digest), c.runID, plain)
	}
	if err != nil {
		c.log.Warn("a node's outputs could not be cached", "node", nr.id(), "error", err)
	}
}

// key returns the key in the cache of what has a digest: what that says of the parameters, and the folder that relative paths start from.
func (c *outputCache) key(digest string) string {
	return hashOf(rawjson.Quote(resume.Params(digest)), rawjson.Quote(c.dir))
}
