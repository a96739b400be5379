package node

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// stalling returns a server. A path has the parts of the response, each of which is a text to send, or "wait", after which the
// server waits until the caller has gone away, or "pause", which takes a fifth of the given limit.
func stalling(t *testing.T, limit time.Duration) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		for part := range strings.SplitSeq(strings.Trim(r.URL.Path, "/"), "/") {
			switch part {
			case "wait":
				<-r.Context().Done()
				return
			case "pause":
				pause := time.NewTimer(limit / 5)
				<-pause.C
			default:
				_, _ = io.WriteString(w, part)
				_ = http.NewResponseController(w).Flush()
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Without a timeout a response may take any time, as long as something of it arrives.
func TestHTTPWithoutProgress(t *testing.T) {
	const limit = 2 * time.Second
	url := stalling(t, limit)
	for name, c := range map[string]struct {
		path, want string
		timeout    nodetype.Seconds
		beside     time.Duration
	}{
		"no response":          {"wait", "no progress for 2 seconds without a response", 0, 0},
		"stops in the middle":  {"abc/wait", "no progress for 2 seconds; 3 bytes", 0, 0},
		"takes long":           {"a/pause/b/pause/c/pause/d/pause/e/pause/f/pause/g/pause/h", "", 0, 0},
		"its timeout replaces": {"wait", "timed out after 2.5 seconds", 2.5, 0},
		"one beside replaces":  {"pause/a/wait", "timed out after 3 seconds", 0, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := task(t)
			ctx := t.Context()
			if c.beside > 0 { // as the engine does
				on.Timeout = c.beside
				timed, cancel := context.WithTimeoutCause(ctx, c.beside, &TimeoutError{c.beside})
				defer cancel()
				ctx = timed
			}
			r := sendHTTP(ctx, &nodetype.HTTP{URL: url + "/" + c.path, Timeout: c.timeout, VerifyTLS: true}, on, limit)
			if c.want == "" {
				if r.Fault != nil || plainOutput(t, r, "response") != "abcdefgh" {
					t.Errorf("%v %s", r.Fault, r.Outputs)
				}
				return
			}
			failedWith(t, r, fault.Timeout, c.want)
			if !r.Fault.Retryable || len(r.Fault.Suggestions) == 0 {
				t.Errorf("%+v", r.Fault)
			}
		})
	}
}

// What is sent is progress too.
func TestHTTPSendingIsProgress(t *testing.T) {
	const limit = 3 * time.Second
	got := make(chan int64, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n int64
		buf := make([]byte, 4<<20)
		for range 8 {
			pause := time.NewTimer(limit / 5)
			<-pause.C
			m, _ := io.ReadFull(r.Body, buf)
			n += int64(m)
		}
		got <- n
	}))
	t.Cleanup(s.Close)
	body := fmt.Sprintf("%q", strings.Repeat("x", 32<<20))
	r := sendHTTP(t.Context(), &nodetype.HTTP{URL: s.URL, Method: "POST", Body: []byte(body)}, task(t), limit)
	if r.Fault != nil {
		t.Fatal(r.Fault)
	}
	if n := <-got; n != 32<<20 {
		t.Errorf("%d bytes", n)
	}
}
