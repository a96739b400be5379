package veloflux

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

func TestAnswersOverTheLimit(t *testing.T) {
	const most = 1 << 20
	long := []byte("[" + strings.Repeat(" ", most-1) + "]")
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write(long)
	_ = zip.Close()
	for name, handler := range map[string]http.HandlerFunc{
		"plain": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(long) },
		"gzip": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Error("gzip is not asked for")
			}
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		},
	} {
		m := managerFor(t, Config{URL: serverOf(t, handler).URL})
		if m.maxBytes != 32<<20 {
			t.Errorf("%d bytes are the most", m.maxBytes)
		}
		m.maxBytes = most
		e := failureOf(t, asStreams(t.Context(), m))
		if e.Code != CodeManagerHTTP || e.Details["status"] != 200 || e.Message != "GET /streams failed: the answer has more than 1 MiB" {
			t.Errorf("%s: %+v", name, e)
		}
		m.maxBytes++
		if err := asStreams(t.Context(), m); err != nil {
			t.Errorf("%s: as long as it may be: %v", name, err)
		}
	}
	headers := serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("x", maxResponseHeader))
	})
	if e := failureOf(t, asStreams(t.Context(), managerFor(t, Config{URL: headers.URL}))); e.Code != CodeManagerHTTP || !strings.Contains(e.Message, "headers exceeded 1048576 bytes") {
		t.Errorf("headers: %+v", e)
	}
}

func TestAnswersAreUnpacked(t *testing.T) {
	s := serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		_, _ = io.WriteString(packed, "[ ]")
		_ = packed.Close()
	})
	if body, err := managerFor(t, Config{URL: s.URL}).Streams(t.Context()); err != nil || string(body) != "[ ]" {
		t.Errorf("%s %v", body, err)
	}
}

// speaks starts a server that sends the given bytes on each connection after the request, and closes it.
func speaks(t *testing.T, bytes string) string {
	t.Helper()
	return serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, bytes)
		_ = conn.Close()
	}).URL
}

func TestAnswersThatBreakOff(t *testing.T) {
	for _, tc := range []struct {
		call   func(context.Context, *Manager) error
		bytes  string
		says   string
		status any
	}{
		{asStreams, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{\"name\":", "GET /streams failed: HTTP 200, but the answer breaks off after 9 bytes: the connection was closed before the answer was whole", 200},
		{asStreams, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n", "the answer breaks off after 2 bytes", 200},
		{asCreate, "HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{", "HTTP 201, but the answer breaks off after 1 bytes: the connection was closed before the answer was whole" + maybeCreatedAdvice, 201},
		{asStreams, "HTTP/1.1 500 x\r\nContent-Length: 100\r\n\r\nboo", "GET /streams failed: HTTP 500: boo", 500},
		{asStreams, "", "the connection was closed before the answer was whole", nil},
		{asCreate, "", "the connection was closed before the answer was whole" + maybeCreatedAdvice, nil},
		{asStreams, "HTTP/1.1 200 OK\r\nConte", "malformed MIME header", nil},
		{asCreate, "HTTP/1.1 200 OK\r\nConte", "malformed MIME header", nil},
		{asStreams, "SSH-2.0-OpenSSH_9.9\r\n\r\n", "malformed HTTP response", nil},
		{asStreams, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n[]", "the answer breaks off after 0 bytes", 200},
	} {
		e := failureOf(t, tc.call(t.Context(), managerFor(t, Config{URL: speaks(t, tc.bytes)})))
		if e.Code != CodeManagerHTTP || !strings.Contains(e.Message, tc.says) || e.Details["status"] != tc.status || e.Details["retryable"] != nil || strings.Contains(e.Message, `Get "`) {
			t.Errorf("%q: %+v, want %q", tc.bytes, e, tc.says)
		}
	}
}

// TestABodyThatIsTooLong gets the Manager's message although it closes the connection without reading the body.
func TestABodyThatIsTooLong(t *testing.T) {
	const words = "Failed to buffer the request body: length limit exceeded"
	body := []byte(`{"id":"p","status":"stopped","sql":"` + strings.Repeat("x", 8<<20) + `"}`)
	m := managerFor(t, Config{URL: speaks(t, fmt.Sprintf("HTTP/1.1 413 x\r\nContent-Length: %d\r\n\r\n%s", len(words), words))})
	_, err := m.CreatePipeline(t.Context(), body)
	if e := failureOf(t, err); e.Message != "POST /pipelines failed: HTTP 413: "+words {
		t.Errorf("%+v", e)
	}
	echo := serverOf(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	if got, err := managerFor(t, Config{URL: echo.URL}).CreatePipeline(t.Context(), body); err != nil || string(got) != string(body) {
		t.Errorf("%d bytes came back, %v", len(got), err)
	}
}

// TestARefusalInTheMiddleOfABody has a Manager that reads 2 MiB, answers, and closes the connection. No answer is lost.
func TestARefusalInTheMiddleOfABody(t *testing.T) {
	const words = "Failed to buffer the request body: length limit exceeded"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.CopyN(io.Discard, conn, 2<<20+1)
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 413 x\r\nContent-Length: %d\r\n\r\n%s", len(words), words)
			_ = conn.Close()
		}
	}()
	var all sync.WaitGroup
	for i := range 15 {
		all.Go(func() {
			body := []byte(`{"id":"p","sql":"` + strings.Repeat("x", 2<<20+i*400_000) + `"}`)
			_, err := managerFor(t, Config{URL: "http://" + l.Addr().String()}).CreatePipeline(t.Context(), body)
			if e := AsError(err); e.Details["status"] != 413 || !strings.HasSuffix(e.Message, words) {
				t.Errorf("%d bytes: %+v", len(body), e)
			}
		})
	}
	all.Wait()
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	m := managerFor(t, Config{URL: "ann:s3cret-word@" + address})
	for _, call := range []func(context.Context, *Manager) error{asStreams, asCreate} {
		e := failureOf(t, call(t.Context(), m))
		if e.Code != CodeManagerHTTP || e.Details["retryable"] != true || !strings.HasSuffix(e.Message, " failed: no answer from the veloFlux Manager at http://"+address+": connection refused. Is it running, and is the URL right?") {
			t.Errorf("%+v", e)
		}
	}
}

func TestAHostThatIsNotThere(t *testing.T) {
	dns, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dns.Close() })
	go func() {
		query := make([]byte, 512)
		for {
			n, from, err := dns.ReadFrom(query)
			if err != nil {
				return
			}
			query[2], query[3] = query[2]|0x80, 3 // a response: no such name
			_, _ = dns.WriteTo(query[:n], from)
		}
	}()
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", dns.LocalAddr().String())
	}}
	m := managerFor(t, Config{URL: "http://manager.invalid:8080"})
	m.transport.DialContext = (&net.Dialer{Resolver: resolver}).DialContext
	if e := failureOf(t, asCreate(t.Context(), m)); e.Code != CodeManagerHTTP || e.Details != nil || !strings.HasSuffix(e.Message, "there is no host named manager.invalid. Is the URL right?") {
		t.Errorf("%+v", e)
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	remotes := map[string]bool{}
	s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		remotes[r.RemoteAddr] = true
		_, _ = io.WriteString(w, "[]")
	})
	m := managerFor(t, Config{URL: s.URL})
	for range 5 {
		if _, err := m.Streams(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(remotes) != 1 {
		t.Errorf("%d connections", len(remotes))
	}
	m.Close()
	if _, err := m.Streams(t.Context()); err != nil || len(remotes) != 2 {
		t.Errorf("after Close: %v, %d connections", err, len(remotes))
	}
}

func TestManyAtATime(t *testing.T) {
	s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"stream":%q,"spec":{}}`, r.URL.Path)
	})
	m := managerFor(t, Config{URL: s.URL, Header: http.Header{"X-Api-Key": {"k-123456"}}})
	failed := make(chan error, 50)
	for i := range 50 {
		go func() {
			name := fmt.Sprint("s", i)
			body, err := m.DescribeStream(t.Context(), name)
			if want := `{"stream":"/streams/describe/` + name + `","spec":{}}`; err == nil && string(body) != want {
				err = fmt.Errorf("%s, want %s", body, want)
			}
			failed <- err
		}()
	}
	for range 50 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

// TestManyWaitForAConnection runs many verifications at the same time. Each makes one request after the other.
func TestManyWaitForAConnection(t *testing.T) {
	s := velofluxserver.Start(t)
	s.On("", "", velofluxserver.Fault{Delay: time.Millisecond})
	m := managerFor(t, Config{URL: s.URL})
	var open, most atomic.Int64
	m.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		for now, seen := open.Add(1), most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		return countedConn{conn, &open}, nil
	}
	r, err := NewRuntime(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	for range 300 {
		calls.Go(func() {
			if _, err := r.CallTool(t.Context(), verifyTool, []byte(`{"sql":"SELECT a FROM user"}`)); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if err := r.Close(t.Context()); err != nil || len(s.Pipelines()) != 0 {
		t.Errorf("%v, and %q is left", err, s.Pipelines())
	}
	if n := most.Load(); n > maxConnections || n < 2 {
		t.Errorf("%d connections at a time", n)
	}
}

// countedConn decrements the count of connections when it is closed.
type countedConn struct {
	net.Conn
	open *atomic.Int64
}

func (c countedConn) Close() error {
	c.open.Add(-1)
	return c.Conn.Close()
}

// TestACreateThatGetsNoConnection certainly creates nothing, so that it may be repeated.
func TestACreateThatGetsNoConnection(t *testing.T) {
	m := managerFor(t, Config{URL: "http://127.0.0.1:1", Timeout: 10 * time.Millisecond})
	m.transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if e := failureOf(t, asCreate(t.Context(), m)); e.Code != CodeTimeout || e.Details["maybe_created"] != nil || e.Details["retryable"] != true {
		t.Errorf("%+v", e)
	}
}

// TestAnotherProtocol has servers that switch the protocol and leave the connection open: no context ends reading it.
func TestAnotherProtocol(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: x\r\nContent-Length: 9\r\nLocation: /streams\r\n\r\nk",
	} {
		closed := make(chan struct{}, 2)
		s := staying(t, answer, closed)
		m := managerFor(t, Config{URL: s})
		if e := failureOf(t, asStreams(t.Context(), m)); e.Code != CodeManagerHTTP || e.Details["status"] != 101 || e.Details["maybe_created"] != nil || e.Message != "GET /streams failed: HTTP 101 switches to another protocol, which was not asked for. Is there a veloFlux Manager at "+s+"?" {
			t.Errorf("%q: %+v", answer, e)
		}
		<-closed
		if e := failureOf(t, asCreate(t.Context(), m)); e.Details["maybe_created"] != true {
			t.Errorf("%q: a create: %+v", answer, e)
		}
		<-closed
	}
}
