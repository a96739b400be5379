package mcpserver

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Call is one call of a tool.
type Call struct {
	// Tool is the name it was called by.
	Tool string
	// Arguments is a JSON object in the client's own bytes, {} when the client sent none. Those of an Unchecked tool, or of
	// one that is not in the table, are whatever the client sent, nil when it sent none.
	Arguments json.RawMessage

	mu     sync.Mutex
	report func(done, total float64, message string) // nil when the client did not ask, or the call is over
}

// Progress tells the client how far the call is; a total of 0 is unknown. It does nothing when the client did not ask
// for progress, or when the call is over.
func (c *Call) Progress(done, total float64, message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.report != nil {
		c.report(done, total, message)
	}
}

func (c *Call) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report = nil
}

// reporter sends progress to the client of a call, or is nil when it gave no token to send it with.
func reporter(ctx context.Context, req *mcp.CallToolRequest) func(done, total float64, message string) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return func(done, total float64, message string) {
		// A client that is gone is noticed by whoever answers it.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: message})
	}
}
