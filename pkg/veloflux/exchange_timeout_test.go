package veloflux

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestTimeAndCancellation(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 8)
	for _, begins := range []string{"", "["} { // without an answer, and in the middle of one
		s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection is not seen
			if begins != "" {
				_, _ = io.WriteString(w, begins)
				_ = http.NewResponseController(w).Flush()
			}
			asked <- struct{}{}
			<-r.Context().Done()
		})
		short := managerFor(t, Config{URL: s.URL, Timeout: time.Second / 2})
		e := failureOf(t, asStreams(t.Context(), short))
		if e.Code != CodeTimeout || e.ExitStatus() != 124 || e.Message != "GET /streams failed: timeout after 0.5s, waiting for "+s.URL || e.Details["retryable"] != true || !errors.Is(e, context.DeadlineExceeded) {
			t.Errorf("timeout: %+v", e)
		}
		if e := failureOf(t, asCreate(t.Context(), short)); e.Code != CodeTimeout || !strings.HasSuffix(e.Message, maybeCreatedAdvice) || e.Details["maybe_created"] != true || e.Details["retryable"] != nil {
			t.Errorf("timeout of a create: %+v", e)
		}
		for range 2 {
			<-asked
		}
		long := managerFor(t, Config{URL: s.URL, Timeout: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-asked; cancel() }()
		if e := failureOf(t, asStreams(ctx, long)); e.Code != CodeToolFailed || e.ExitStatus() != 1 || e.Message != "GET /streams was cancelled" || !errors.Is(e, context.Canceled) || e.Details != nil {
			t.Errorf("cancelled: %+v", e)
		}
		ctx, cancel = context.WithCancel(t.Context())
		go func() { <-asked; cancel() }()
		if e := failureOf(t, asCreate(ctx, long)); e.Code != CodeToolFailed || e.Details["maybe_created"] != true || !errors.Is(e, context.Canceled) {
			t.Errorf("a create that was cancelled: %+v", e)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Second/2)
		if e := failureOf(t, asStreams(ctx, long)); e.Code != CodeTimeout || !strings.Contains(e.Message, "the caller's time ran out") || !errors.Is(e, context.DeadlineExceeded) {
			t.Errorf("the caller's deadline: %+v", e)
		}
		cancel()
		<-asked
	}
}

// TestStatsMayTakeLonger requests stats that take longer than other requests may.
func TestStatsMayTakeLonger(t *testing.T) {
	s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, "[]")
	})
	m := managerFor(t, Config{URL: s.URL, Timeout: time.Millisecond})
	if _, err := m.PipelineStats(t.Context(), "p", time.Minute); err != nil {
		t.Error(err)
	}
}

// TestNothingEscapesTheTimeout has responses without an end.
func TestNothingEscapesTheTimeout(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n[",
		"HTTP/1.1 302 x\r\nLocation: /streams\r\nContent-Length: 9\r\n\r\nk",
		"HTTP/1.1 500 x\r\nContent-Length: 9\r\n\r\nk",
		"HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\n\r\nk",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			closed := make(chan struct{}, 8)
			m := managerFor(t, Config{URL: staying(t, answer, closed), Timeout: time.Second})
			_ = failureOf(t, asStreams(t.Context(), m))
			<-closed
		})
	}
	for _, answer := range []string{"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "HTTP/1.1 407 x\r\nContent-Length: 9\r\n\r\n"} {
		t.Run("from a proxy: "+answer, func(t *testing.T) {
			t.Parallel()
			closed := make(chan struct{}, 8)
			proxy, _ := url.Parse(staying(t, answer, closed))
			m := managerFor(t, Config{URL: "https://manager.invalid", Timeout: time.Second, Proxy: func(*http.Request) (*url.URL, error) { return proxy, nil }})
			_ = failureOf(t, asStreams(t.Context(), m))
			<-closed
		})
	}
}

// staying starts a server that sends the given bytes on each connection after the request, and reports when the client
// has closed it.
func staying(t *testing.T, bytes string, closed chan<- struct{}) string {
	t.Helper()
	return serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, bytes)
		_, _ = io.Copy(io.Discard, conn)
		closed <- struct{}{}
	}).URL
}

// TestInformationWithoutEnd has a server that keeps sending informational responses.
func TestInformationWithoutEnd(t *testing.T) {
	s := serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		for err == nil {
			_, err = io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\n\r\n")
		}
	})
	_ = failureOf(t, asStreams(t.Context(), managerFor(t, Config{URL: s.URL, Timeout: 100 * time.Millisecond})))
}
