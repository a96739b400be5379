package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

// A server over HTTP gets the notification about a cancelled call before the session ends.
func TestACancelledCallIsToldOverHTTP(t *testing.T) {
	fake := sdkServer()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return fake }, nil)
	var mu sync.Mutex
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		mu.Lock()
		seen = append(seen, r.Method+" "+gjson.GetBytes(body, "method").Str)
		mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	s, err := Connect(t.Context(), Spec{Name: "web", Server: Server{URL: server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("the user has had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	if _, err := s.Call(ctx, "wait", nil, func(float64, float64, string) { cancel(cause) }); !errors.Is(err, cause) {
		t.Fatal(err)
	}
	s.Close()
	mu.Lock()
	defer mu.Unlock()
	told, ended := slices.Index(seen, "POST notifications/cancelled"), slices.Index(seen, "DELETE ")
	if told < 0 || ended < told {
		t.Errorf("%q", seen)
	}
}

// The end of a session waits for notifications that are owed, but not for long, and not if they were counted first.
func TestCancellationsAreAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cancellations
		c.add(-1)
		c.add(1)
		began := time.Now()
		c.wait()
		if took := time.Since(began); took != 0 {
			t.Errorf("nothing is owed, but the wait took %v", took)
		}
		c.add(1)
		done := make(chan struct{})
		go func() { c.wait(); close(done) }()
		c.add(-1)
		<-done
		c.add(1)
		began = time.Now()
		c.wait()
		if took := time.Since(began); took != cancelPatience {
			t.Errorf("the wait for a server that does not read took %v, want %v", took, cancelPatience)
		}
	})
}
