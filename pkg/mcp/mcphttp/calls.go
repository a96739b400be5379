package mcphttp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

const (
	sessionHeader = "Mcp-Session-Id"
	// firstStateless is the first revision of MCP that has no sessions, and no streams that can be gone on with.
	firstStateless = "2026-07-28"
)

// sender is a session of a client with certain rights. Nothing else tells two clients apart that are windows of one program, whose ids of
// requests all count from the same number.
type sender struct{ name, session string }

// identify returns the sender of a request. Its session is "" if it has none.
func identify(c *Client, r *http.Request) sender {
	if r.Header.Get(revisionHeader) >= firstStateless {
		return sender{name: c.Name}
	}
	return sender{c.Name, r.Header.Get(sessionHeader)}
}

// callKey names the request in flight that a cancellation means.
type callKey struct {
	from sender
	id   string // as JSON
}

// calls are the requests in flight.
type calls struct {
	// serving ends when the calls must end, and listening, which derives from it, when the subscriptions must.
	serving, listening  context.Context
	stop, stopListening context.CancelCauseFunc
	mu                  sync.Mutex
	open                map[callKey][]*call
}

func newCalls() *calls {
	c := &calls{open: map[callKey][]*call{}}
	c.serving, c.stop = context.WithCancelCause(context.Background())
	c.listening, c.stopListening = context.WithCancelCause(c.serving)
	return c
}

// errStopping is the cause of calls that end because the server stops.
func errStopping() error {
	return &mcpserver.Ended{By: mcpserver.Stopping, Err: errors.New("the server is stopping")}
}

func (c *calls) endSubscriptions() { c.stopListening(errStopping()) }

func (c *calls) endAll() { c.stop(errStopping()) }

// call is a POST in flight.
type call struct {
	ctx  context.Context
	stop context.CancelCauseFunc
	end  func()
}

// begin records a POST. end must be called. What has no session, and a batch, ends with its connection or with the server: it cannot be
// cancelled.
func (c *calls) begin(from sender, in *input) *call {
	open := &call{}
	parent := c.serving
	if in.listens {
		parent = c.listening
	}
	open.ctx, open.stop = context.WithCancelCause(parent)
	if len(in.ids) != 1 || from.session == "" {
		open.end = func() { open.stop(nil) }
		return open
	}
	key := callKey{from, string(in.ids[0])}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[key] = append(c.open[key], open)
	open.end = func() {
		open.stop(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open[key] = slices.DeleteFunc(c.open[key], func(other *call) bool { return other == open })
		if len(c.open[key]) == 0 {
			delete(c.open, key)
		}
	}
	return open
}

// cancel ends the request that a client cancels in its session. If the session has two requests with this id in flight, neither is ended:
// the work of the wrong one would be lost.
func (c *calls) cancel(key callKey, reason string, log *slog.Logger) {
	c.mu.Lock()
	meant := slices.Clone(c.open[key])
	c.mu.Unlock()
	switch len(meant) {
	case 0:
	case 1:
		meant[0].stop(mcpserver.CancelledFor(reason))
	default:
		log.Info("a cancellation is ignored: several requests in flight have its id", "id", key.id, "requests", len(meant))
	}
}
