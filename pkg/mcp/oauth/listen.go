package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Listener receives the answer to a login from a browser on this machine.
type Listener struct {
	listener net.Listener
}

// callback is the path of the redirect URL.
const callback = "/callback"

// Listen listens on a port of the loopback interface; 0 is any free one. The caller must close the Listener.
func Listen(port int) (*Listener, error) {
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fault.New(fault.Conflict, "Cannot listen on port %d of 127.0.0.1: %v", port, fault.Reason(err)).
			Suggest("Without --port any free port is used")
	}
	return &Listener{listener: l}, nil
}

// Redirect returns the URL to which the browser returns.
func (l *Listener) Redirect() string { return "http://" + l.listener.Addr().String() + callback }

// Close stops listening.
func (l *Listener) Close() { _ = l.listener.Close() }

// Wait returns the answer to an attempt: the parameters of a request of the browser, or of a URL from the channel, which a person has
// pasted. The channel may be nil. Wait ignores requests that do not answer the attempt, and calls ignored for such URLs. If ctx ends
// first, the error is its cause.
func (l *Listener) Wait(ctx context.Context, t *Attempt, pasted <-chan string, ignored func(reason string)) (url.Values, error) {
	answers := make(chan url.Values, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callback, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		if !t.Answers(r.URL.Query()) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "This does not answer the login that pflow-sync waits for.\n")
			return
		}
		select {
		case answers <- r.URL.Query():
		default: // it was answered already
		}
		_, _ = io.WriteString(w, "pflow-sync has the answer. Return to the terminal to see whether the login succeeded.\n")
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: requestTimeout, MaxHeaderBytes: 64 << 10}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l.listener) }()
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(closing) // the browser gets its page
		_ = server.Close()
	}()
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case answer := <-answers:
			return answer, nil
		case err := <-served:
			if !errors.Is(err, http.ErrServerClosed) {
				return nil, fault.New(fault.Internal, "Cannot listen for the browser: %v", fault.Reason(err))
			}
		case line, ok := <-pasted:
			if !ok {
				pasted = nil
				continue
			}
			if u, err := url.Parse(line); err == nil && t.Answers(u.Query()) {
				return u.Query(), nil
			}
			ignored("This is not the URL at which the browser ended")
		}
	}
}
