package mcpclient

import (
	"context"
	"encoding/json"
	"sync"
)

// pendingRequest is a request as the transport sees it. The SDK decodes results into Go values, which rounds numbers and
// loses the order of keys. So the transport stores the bytes of the result here before the SDK sees them. It is a value of the
// request's context.
type pendingRequest struct {
	// attempt is the attempt at a call that the request belongs to, or nil.
	attempt *attempt
	// decoded is true if the SDK needs the result too.
	decoded bool
	// heard counts what the server sends in answer over HTTP.
	heard hearing

	mu     sync.Mutex
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

// kept returns the result, or nil.
func (x *pendingRequest) kept() json.RawMessage {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.result
}
