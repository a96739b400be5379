package node

import (
	"context"
	"net"
	"sync"
	"time"
)

// dialing is what a request knows of the connections that are made for it. Go makes them apart from the request, so that
// others can use them, and does not give up when the request is over: this does.
type dialing struct {
	ctx context.Context
	// secure says that TLS has to be agreed on before the connection can be used.
	secure bool

	mu sync.Mutex
	// unfinished lets a connection be that is ready.
	unfinished []func() bool
}

type dialingKey struct{}

// carried is the context of the request with what dial needs in it.
func (d *dialing) carried() context.Context { return context.WithValue(d.ctx, dialingKey{}, d) }

// done leaves the connections to who uses them: TLS is agreed on, or will not be.
func (d *dialing) done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, stop := range d.unfinished {
		stop()
	}
	d.unfinished = nil
}

// dial connects until the request is over that wants it, and closes a connection that is not ready by then.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: time.Minute, KeepAlive: 30 * time.Second}
	d, ok := ctx.Value(dialingKey{}).(*dialing)
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
