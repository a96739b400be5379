package mcpclient

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/tidwall/gjson"
)

// pendingRequest is a request as the transport sees it. The SDK decodes results into Go values, which rounds numbers and
// loses the order of keys. So the transport stores the bytes of the result here, and reports progress in the order of the
// wire, before the SDK sees either. It is a value of the request's context.
type pendingRequest struct {
	token    string
	progress func(done, total float64, message string)

	mu     sync.Mutex
	over   bool
	result json.RawMessage
}

type pendingRequestKey struct{}

func (x *pendingRequest) attach(ctx context.Context) context.Context {
	return context.WithValue(ctx, pendingRequestKey{}, x)
}

func pendingRequestOf(ctx context.Context) *pendingRequest {
	x, _ := ctx.Value(pendingRequestKey{}).(*pendingRequest)
	return x
}

func (x *pendingRequest) keep(result json.RawMessage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.result = result
}

// report passes a progress notification on, unless the request is over or the notification belongs to another request.
func (x *pendingRequest) report(params json.RawMessage) {
	p := gjson.ParseBytes(params)
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over && x.progress != nil && p.Get("progressToken").String() == x.token {
		x.progress(p.Get("progress").Num, p.Get("total").Num, p.Get("message").Str)
	}
}

// end stops progress reports and returns the result, or nil.
func (x *pendingRequest) end() json.RawMessage {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	return x.result
}
