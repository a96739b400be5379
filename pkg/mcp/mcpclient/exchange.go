package mcpclient

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/tidwall/gjson"
)

// exchange is one request as the transport sees it. The SDK decodes results into Go values, which rounds numbers and
// loses the order of keys; so the transport puts the bytes of the result aside here, and reports progress in the order
// of the wire, before the SDK sees either. It travels in the request's context.
type exchange struct {
	token    string
	progress func(done, total float64, message string)

	mu     sync.Mutex
	over   bool
	result json.RawMessage
}

type exchangeKey struct{}

func (x *exchange) attach(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

func (x *exchange) keep(result json.RawMessage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.result = result
}

// report hands one progress notification on, unless the request is over or it belongs to another.
func (x *exchange) report(params json.RawMessage) {
	p := gjson.ParseBytes(params)
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over && x.progress != nil && p.Get("progressToken").String() == x.token {
		x.progress(p.Get("progress").Num, p.Get("total").Num, p.Get("message").Str)
	}
}

// end stops reports and gives the result, nil when there was none.
func (x *exchange) end() json.RawMessage {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	return x.result
}
