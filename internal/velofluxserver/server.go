// Package velofluxserver is a fake veloFlux Manager for tests. It has the routes, statuses, headers and texts of the real
// one, and keeps streams and pipelines, but does not run them. It knows no SQL: it has a table of statements with the answers
// of a real Manager. If the real text for a mistake in anything else is not known, it uses a likely one.
package velofluxserver

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Server is a fake Manager. It starts with the streams user, nested, shared_demo, and one whose name must be escaped in a
// path.
type Server struct {
	// URL is the URL on the loopback interface, without a trailing slash. It is empty after New.
	URL string

	server *http.Server
	served sync.WaitGroup
	done   chan struct{}
	ended  sync.Once

	mu        sync.Mutex
	streams   map[string]*stream
	pipelines map[string]*pipeline
	topics    map[string]topic
	requests  []Request
	faults    []*fault
	// statements are the known ones; the first one counts.
	statements []Statement
}

// Request is a request that the server received.
type Request struct {
	Method string
	// Path is the path and the query as they were on the wire.
	Path   string
	Header http.Header
	Body   []byte
}

// New returns a server that does not listen, for use as a handler.
func New() *Server {
	s := &Server{done: make(chan struct{}), statements: Statements()}
	s.Clear()
	for _, body := range startStreams {
		s.AddStream(body)
	}
	return s
}

// Listen starts a server. The caller must close it.
func Listen() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := New()
	s.URL = "http://" + l.Addr().String()
	s.server = &http.Server{Handler: s, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
	s.served.Go(func() { _ = s.server.Serve(l) })
	return s, nil
}

// Start starts a server that is closed at the end of the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := Listen()
	if err != nil {
		t.Fatalf("the veloFlux server does not start: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// Close stops the server and aborts all requests.
func (s *Server) Close() {
	s.ended.Do(func() { close(s.done) })
	if s.server != nil {
		_ = s.server.Close()
		s.served.Wait()
	}
}

// Clear removes all streams, pipelines and memory topics.
func (s *Server) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams, s.pipelines, s.topics = map[string]*stream{}, map[string]*pipeline{}, map[string]topic{}
}

// AddStream adds a stream, given as the body of POST /streams. It panics if the Manager would refuse it.
func (s *Server) AddStream(json string) { s.add("/streams", json) }

// AddPipeline adds a pipeline with a sink of type nop. It panics if the Manager would refuse it.
func (s *Server) AddPipeline(id, sql string) {
	s.add("/pipelines", fmt.Sprintf(`{"id":%s,"sql":%s,"sinks":[{"type":"nop"}]}`, quoted(id), quoted(sql)))
}

func (s *Server) add(path, body string) {
	w := httptest.NewRecorder()
	c := &call{w: w, method: http.MethodPost, header: http.Header{"Content-Type": {"application/json"}}, body: []byte(body)}
	c.serve(s, findRoute(path))
	if w.Code != http.StatusCreated {
		panic(fmt.Sprintf("POST %s: %d %s", path, w.Code, w.Body))
	}
}

// Streams returns the names of all streams, sorted.
func (s *Server) Streams() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.streams))
}

// Pipelines returns the ids of all pipelines, sorted, including the records that failed creates left.
func (s *Server) Pipelines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.pipelines))
}

// Requests returns the recorded requests, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Reset forgets the recorded requests. It keeps the state and the faults.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}
