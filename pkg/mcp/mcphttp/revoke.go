package mcphttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// lastWord is how long a request may take to end after it was revoked.
const lastWord = time.Second

// connectionKey is the key of the connection in a request's context.
type connectionKey struct{}

// Revocable returns a handler whose requests end when their senders may no longer read the answers. bind returns the context of a request,
// which then ends with a *Denied as its cause. What has not ended a second later loses its connection.
func Revocable(next http.Handler, bind func(*http.Request) (ctx context.Context, end func())) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end := bind(r)
		defer end()
		ended := make(chan struct{})
		defer close(ended)
		defer context.AfterFunc(ctx, func() {
			connection, ok := ctx.Value(connectionKey{}).(net.Conn)
			if !ok || revoked(ctx) == nil {
				return
			}
			select {
			case <-ended: // the connection may have another request
			case <-time.After(lastWord):
				_ = connection.Close()
			}
		})()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// revoked returns why the sender of a request may no longer read the answer, or nil.
func revoked(ctx context.Context) *Denied {
	d := &Denied{}
	if errors.As(context.Cause(ctx), &d) {
		return d
	}
	return nil
}
