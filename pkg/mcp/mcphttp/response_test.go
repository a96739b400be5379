package mcphttp

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// request is the input of one request with an id.
func request() *input { return &input{ids: []json.RawMessage{json.RawMessage("1")}} }

// TestHeartbeats holds that a stream has a comment every 15 seconds, however often there are events, and none after its end.
func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := httptest.NewRecorder()
		r := newResponse(recorder, true, request())
		time.Sleep(opening)
		for range 4 {
			time.Sleep(heartbeat - time.Second)
			r.send(json.RawMessage(`{}`), "")
			time.Sleep(time.Second)
		}
		synctest.Wait()
		r.close(nil)
		time.Sleep(10 * heartbeat)
		synctest.Wait()
		beat := eventHead + "{}\n\n: heartbeat\n\n"
		if got, want := recorder.Body.String(), ": ok\n\n"+strings.Repeat(beat, 4); got != want || heartbeat != 15*time.Second {
			t.Errorf("%q", got)
		}
	})
}

// TestHeartbeatsAreForStreams holds that nothing gets into an answer that is JSON, and none begins a stream before an answer that came at once.
func TestHeartbeatsAreForStreams(t *testing.T) {
	for _, stream := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			r := newResponse(recorder, stream, request())
			r.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(r, `{"a":`)
			time.Sleep(3 * heartbeat)
			_, _ = io.WriteString(r, `1}`)
			r.close(nil)
			if got := recorder.Body.String(); got != `{"a":1}` {
				t.Errorf("%q", got)
			}
		})
	}
}

// one is a listener with one connection.
type one struct {
	conn   chan net.Conn
	closed chan struct{}
}

func (l *one) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conn:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *one) Close() error   { close(l.closed); return nil }
func (l *one) Addr() net.Addr { return &net.TCPAddr{} }

// TestAClientThatReadsNothing holds that a client which stops reading is given up after its time, on a stream and in a long answer, and that one
// which reads slowly is not.
func TestAClientThatReadsNothing(t *testing.T) {
	for _, slow := range []bool{false, true} {
		for _, stream := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				listener := &one{make(chan net.Conn, 1), make(chan struct{})}
				ours, theirs := net.Pipe()
				ended := make(chan error, 1)
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					r := newResponse(w, false, request()) // without heartbeats: a bubble's clock stands still while one waits for the lock
					defer r.close(nil)
					r.Header().Set("Content-Type", "application/json")
					if stream {
						r.send(json.RawMessage(`{}`), "")
					}
					_, err := r.Write(make([]byte, 10*piece))
					ended <- err
				})}
				go func() { _ = server.Serve(listener) }()
				listener.conn <- theirs
				go func() { _, _ = io.WriteString(ours, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") }()
				begun := time.Now()
				if slow {
					go func() {
						buffer := make([]byte, 16<<10)
						for {
							if _, err := ours.Read(buffer); err != nil {
								return
							}
							time.Sleep(writeTime / 10)
						}
					}()
				}
				err := <-ended
				if took := time.Since(begun); slow && (err != nil || took < writeTime) || !slow && (!errors.Is(err, os.ErrDeadlineExceeded) || took > writeTime+heartbeat) {
					t.Errorf("slow %v, stream %v: %v after %s", slow, stream, err, took)
				}
				_ = ours.Close()
				_ = server.Close()
				time.Sleep(writeTime) // until the reader sees that
			})
		}
	}
}

// TestACallEndsWithAClientThatReadsNothing holds that a call which sends one message after the other learns from its context that the
// client does not read them.
func TestACallEndsWithAClientThatReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := &one{make(chan net.Conn, 1), make(chan struct{})}
		ours, theirs := net.Pipe()
		ended := make(chan time.Duration, 1)
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			r := newResponse(w, false, request())
			defer r.close(nil)
			begun := time.Now()
			for q.Context().Err() == nil && time.Since(begun) < 10*writeTime {
				r.send(json.RawMessage(`"`+strings.Repeat("x", piece)+`"`), "")
				time.Sleep(time.Second)
			}
			ended <- time.Since(begun)
		})}
		go func() { _ = server.Serve(listener) }()
		listener.conn <- theirs
		go func() { _, _ = io.WriteString(ours, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") }()
		if took := <-ended; took > writeTime+heartbeat {
			t.Errorf("the call ended after %s", took)
		}
		_ = ours.Close()
		_ = server.Close()
	})
}
