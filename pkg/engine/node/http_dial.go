package node

import (
	"context"
	"net"
	"sync"
	"time"
)

// dials holds the connections that are being made for one request. net/http dials apart from the request, because other
// requests may use the connection, and continues when the request has ended. dials ends these connections with the request.
type dials struct {
	ctx context.Context
	// secure is set if a TLS handshake follows the dial.
	secure bool

	mu sync.Mutex
	// unfinished holds, for each connection in its handshake, a function that keeps it open after the request.
	unfinished []func() bool
}

type dialingKey struct{}

// requestContext returns the request's context, which carries d to dial.
func (d *dials) requestContext() context.Context { return context.WithValue(d.ctx, dialingKey{}, d) }

// done is called after the TLS handshake. The connections then stay open after the request.
func (d *dials) done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, stop := range d.unfinished {
		stop()
	}
	d.unfinished = nil
}

// dial connects to an address. When the request ends, it stops, and closes a connection that is still in its handshake.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: time.Minute, KeepAlive: 30 * time.Second}
	d, ok := ctx.Value(dialingKey{}).(*dials)
	if !ok {
		return dialer.DialContext(ctx, network, address)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(d.ctx, func() { cancel(context.Cause(d.ctx)) })()
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil || !d.secure {
		return conn, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unfinished = append(d.unfinished, context.AfterFunc(d.ctx, func() { _ = conn.Close() }))
	return conn, nil
}
