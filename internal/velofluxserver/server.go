// Package velofluxserver is a veloFlux Manager for tests. It answers as the real one does, with the same routes, statuses,
// headers and texts, and keeps streams and pipelines, but it runs none: it reads only as much SQL as it needs to plan simple
// statements and to refuse what the real one refuses. Where the real text for a mistake is not known, it says a likely one.
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

// Server is a Manager. It has streams to start with: user, nested, shared_demo, and one whose name needs care in a path.
type Server struct {
	// URL is where it listens, on the loopback interface, without a slash at its end. It is empty after New.
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
}

// Request is one that came.
type Request struct {
	Method string
	// Path is the path and the query as they were on the wire.
	Path   string
	Header http.Header
	Body   []byte
}

// New makes a server that does not listen: it is a handler.
func New() *Server {
	s := &Server{done: make(chan struct{})}
	s.Clear()
	for _, body := range startStreams {
		s.AddStream(body)
	}
	return s
}

// Listen runs a server. Whoever starts it closes it.
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

// Start runs a server that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := Listen()
	if err != nil {
		t.Fatalf("the veloFlux server does not start: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// Close ends the server and everything that it is answering.
func (s *Server) Close() {
	s.ended.Do(func() { close(s.done) })
	if s.server != nil {
		_ = s.server.Close()
		s.served.Wait()
	}
}

// Clear forgets all streams, pipelines and memory topics.
func (s *Server) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams, s.pipelines, s.topics = map[string]*stream{}, map[string]*pipeline{}, map[string]topic{}
}

// AddStream adds a stream, given as the body of POST /streams. It panics when the Manager would refuse it.
func (s *Server) AddStream(json string) { s.add("/streams", json) }

// AddPipeline adds a pipeline with a sink of type nop. It panics when the Manager would refuse it.
func (s *Server) AddPipeline(id, sql string) {
	s.add("/pipelines", fmt.Sprintf(`{"id":%s,"sql":%s,"sinks":[{"type":"nop"}]}`, quoted(id), quoted(sql)))
}

func (s *Server) add(path, body string) {
	w := httptest.NewRecorder()
	c := &call{w: w, method: http.MethodPost, header: http.Header{"Content-Type": {"application/json"}}, body: []byte(body)}
	c.serve(s, find(path))
	if w.Code != http.StatusCreated {
		panic(fmt.Sprintf("POST %s: %d %s", path, w.Code, w.Body))
	}
}

// Streams are the names of all streams, sorted.
func (s *Server) Streams() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.streams))
}

// Pipelines are the ids of all pipelines, sorted, with the records that failed creates left.
func (s *Server) Pipelines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.pipelines))
}

// Requests are all that came so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Reset forgets the requests that came so far. It keeps the state and the faults.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}
