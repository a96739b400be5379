package mcpserver

import (
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"
)

const methodCancelled = "notifications/cancelled"

// cancel gives up the answer to the request that the client cancels: it is to get none. The SDK, which gets the
// notification as well, ends the context of the request. Until that is heeded the id stays taken. What is not to be
// cancelled the SDK must not hear of: MCP lets nobody cancel initialize.
func (p *pipe) cancel(notification *jsonrpc.Request) (heard bool) {
	given := gjson.GetBytes(notification.Params, "requestId")
	id, err := jsonrpc.MakeID(given.Value())
	if n, ok := id.Raw().(int64); err != nil || ok && given.Raw != strconv.FormatInt(n, 10) { // rounded, it is another's
		return false
	}
	p.mu.Lock()
	asked := p.open[id]
	if asked == nil || asked.cancelled || asked.method == "initialize" {
		p.mu.Unlock()
		return false
	}
	asked.cancelled = true
	var rest []byte
	if asked.batch != nil {
		rest = asked.batch.settle()
	}
	p.mu.Unlock()
	if rest != nil {
		p.reject(rest)
	}
	p.answered()
	return true
}

// leave waits for the end of a session whose requests are all answered. Calls that were cancelled and do not heed it
// are left behind.
func (p *pipe) leave(ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-time.After(grace):
	}
	p.mu.Lock()
	left := len(p.open)
	p.mu.Unlock()
	if left > 0 {
		return nil
	}
	return <-ended
}
