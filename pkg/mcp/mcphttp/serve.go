package mcphttp

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	maxHeader      = 32 << 10
	maxConnections = 4096
	headerTime     = 10 * time.Second
	idleTime       = 2 * time.Minute
	// handOver is how long calls have to answer after they were told that the server stops.
	handOver = 2 * time.Second
)

// Drain is how a server stops.
type Drain struct {
	// Begin is called when no more connections are accepted, and End when the calls that are still in flight must end.
	Begin, End func()
	// Time is how long calls in flight may take to end by themselves.
	Time time.Duration
}

// crashes returns a handler that logs a panic of another one, which ends the connection: net/http logs it among the mistakes of clients.
func crashes(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if why := recover(); why != nil {
				log.Error("a request crashed, and its connection is closed", "method", r.Method, "path", r.URL.Path, "panic", why, "stack", string(debug.Stack()))
				panic(http.ErrAbortHandler)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// Serve serves HTTP on a listener until ctx ends, and returns the cause of ctx. It then accepts no more connections, waits for the
// requests in flight, and closes the connections of those that take too long. Another error means that the listener failed.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, drain Drain, log *slog.Logger) error {
	server := &http.Server{
		Handler: timedBodies(crashes(handler, log), bodyTime), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), // mistakes of clients
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, c)
		},
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(limit(listener, maxConnections)) }()
	select {
	case err := <-failed:
		return fault.New(fault.Unavailable, "The server cannot go on to listen: %v", err)
	case <-ctx.Done():
	}
	idle := make(chan struct{})
	go func() {
		_ = server.Shutdown(context.WithoutCancel(ctx)) // ends when all connections are idle, or are closed below
		close(idle)
	}()
	drain.Begin()
	if !within(idle, drain.Time) {
		drain.End()
		if !within(idle, handOver) {
			log.Warn("requests are still in flight; their connections are closed")
		}
	}
	_ = server.Close() // a connection that cannot be closed ends with the process
	return context.Cause(ctx)
}

// within reports whether a channel is closed in time.
func within(closed <-chan struct{}, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-closed:
		return true
	case <-timer.C:
		return false
	}
}

// limit returns a listener that accepts a connection when fewer than most are open; more wait in the system's queue.
func limit(l net.Listener, most int) net.Listener {
	return &limited{Listener: l, slots: make(chan struct{}, most), closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &counted{Conn: conn, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// counted is a connection that counts until it is closed.
type counted struct {
	net.Conn
	release func()
}

func (c *counted) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}

// Host returns the host of an address to listen on. An address that is not HOST:PORT is a usage_error.
func Host(address string) (string, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return "", fault.New(fault.Usage, "The address to listen on must be HOST:PORT, such as 127.0.0.1:3000, got %q", fault.Truncate(address, 100))
	}
	return host, nil
}

// Listen listens on HOST:PORT.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err == nil {
		return l, nil
	}
	cause := err
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Err != nil {
		cause = op.Err
	}
	return nil, fault.New(fault.Unavailable, "Cannot listen on %s: %v", fault.Truncate(address, 100), cause).Suggest("Choose another address with --listen; with port 0 the system chooses a free one")
}
