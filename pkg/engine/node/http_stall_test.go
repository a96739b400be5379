package node

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// pipes is a listener whose connections are pipes in memory, so that the time in a bubble of synctest goes on while they wait.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p <- server
	return client, nil
}

// servePipes serves http://server in memory, in the bubble of a test which does not run in parallel with another.
func servePipes(t *testing.T, on *Task, handler http.HandlerFunc) {
	t.Helper()
	proxies, f := proxiesFor("", on.Env)
	if f != nil {
		t.Fatal(f)
	}
	listener := make(pipes)
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	transports.Lock()
	others := transports.open
	transports.open = map[route]*http.Transport{}
	for _, singleUse := range []bool{true, false} {
		transports.open[route{proxies: proxies, singleUse: singleUse}] = &http.Transport{DialContext: listener.dial, DisableKeepAlives: true}
	}
	transports.Unlock()
	t.Cleanup(func() {
		transports.Lock()
		transports.open = others
		transports.Unlock()
		_ = server.Close()
	})
}

// Without a timeout a response may take any time, as long as something of it arrives.
func TestHTTPWithoutProgress(t *testing.T) {
	for name, c := range map[string]struct {
		path, more, want string
		beside           time.Duration
	}{
		"no response":          {"wait", "", "no progress for 30 seconds without a response", 0},
		"stops in the middle":  {"abc/wait", "", "no progress for 30 seconds; 3 bytes", 0},
		"takes long":           {"a/pause/b/pause/c/pause/d", "", "", 0},
		"its timeout replaces": {"wait", `,"timeout":40`, "timed out after 40 seconds", 0},
		"one beside replaces":  {"pause/a/wait", "", "timed out after 50 seconds", 50 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on := task(t)
				// A path has the parts of the response, each of which is a text to send, or "wait", after which the server waits until
				// the caller has gone away, or "pause", which is almost the limit.
				servePipes(t, on, func(w http.ResponseWriter, r *http.Request) {
					for part := range strings.SplitSeq(strings.Trim(r.URL.Path, "/"), "/") {
						switch part {
						case "wait":
							<-r.Context().Done()
							return
						case "pause":
							time.Sleep(stallLimit - time.Second)
						default:
							_, _ = io.WriteString(w, part)
							_ = http.NewResponseController(w).Flush()
						}
					}
				})
				ctx := t.Context()
				if c.beside > 0 { // as the engine does
					on.Timeout = c.beside
					timed, cancel := context.WithTimeoutCause(ctx, c.beside, &TimeoutError{c.beside})
					defer cancel()
					ctx = timed
				}
				params := `{"url":"http://server/` + c.path + `"` + c.more + "}"
				r := Run(ctx, prepared(t, "http", params, values{}), on)
				if c.want == "" {
					if r.Fault != nil || plainOutput(t, r, "response") != "abcd" {
						t.Errorf("got %v %s, want the response abcd", r.Fault, r.Outputs)
					}
					return
				}
				failedWith(t, r, fault.Timeout, c.want)
				if !r.Fault.Retryable || len(r.Fault.Suggestions) == 0 {
					t.Errorf("got %+v, want a fault that can be retried, with a suggestion", r.Fault)
				}
			})
		})
	}
}

// What is sent is progress too.
func TestHTTPSendingIsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sent = 1 << 20
		on := task(t)
		got := 0
		servePipes(t, on, func(_ http.ResponseWriter, r *http.Request) {
			for part, err := make([]byte, sent/4), error(nil); err == nil; {
				time.Sleep(stallLimit - time.Second)
				var n int
				n, err = io.ReadFull(r.Body, part)
				got += n
			}
		})
		r := Run(t.Context(), prepared(t, "http", fmt.Sprintf(`{"url":"http://server/","method":"POST","body":%q}`, strings.Repeat("x", sent)), values{}), on)
		if r.Fault != nil || got != sent {
			t.Errorf("the server got %d bytes, and the node %v; want %d bytes and no failure", got, r.Fault, sent)
		}
	})
}
