package mcphttp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/mcphttp"
)

// TestRevokedRequestsEnd holds that a request which may no longer be answered ends, also one that does not heed the end of its context, and
// that the connection of one that does can be used again.
func TestRevokedRequestsEnd(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(net.ErrClosed)
	revoke := make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun\n")
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/deaf" {
			<-ctx.Done()
			return
		}
		<-r.Context().Done()
	})
	bind := func(r *http.Request) (context.Context, func()) {
		bound, end := context.WithCancelCause(r.Context())
		go func() {
			<-revoke
			end(&mcphttp.Denied{Status: http.StatusUnauthorized, Message: "removed"})
		}()
		return bound, func() { end(nil) }
	}
	listener, err := mcphttp.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- mcphttp.Serve(ctx, listener, mcphttp.Revocable(handler, bind), mcphttp.Drain{Begin: func() {}, End: func() {}}, discard())
	}()
	open := func(path string) *bufio.Reader {
		t.Helper()
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String()+path, nil)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		in := bufio.NewReader(response.Body)
		if line, err := in.ReadString('\n'); err != nil {
			t.Fatalf("%q %v", line, err)
		}
		return in
	}
	heeding, deaf := open("/"), open("/deaf")
	close(revoke)
	if rest, err := io.ReadAll(heeding); len(rest) > 0 || err != nil {
		t.Errorf("a request that heeds it ends with %q %v", rest, err)
	}
	if rest, err := io.ReadAll(deaf); len(rest) > 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("one that does not ends with %q %v", rest, err)
	}
	stop(net.ErrClosed)
	<-served
}
