package engine_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
)

// service is the server that the http nodes of a test call. It records the calls.
type service struct {
	url string
	mu  sync.Mutex
	// calls has the paths that were called, in order, times how often each was called.
	calls []string
	times map[string]int
	// answer returns the status and the body for the nth call of a path, from 1. If it is nil they are 200 and {}. gone is
	// closed when the caller goes away.
	answer func(path string, n int, gone <-chan struct{}) (status int, body string)
}

func newService(t *testing.T) *service {
	s := &service{times: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	s.mu.Lock()
	s.calls = append(s.calls, path)
	s.times[path]++
	n := s.times[path]
	s.mu.Unlock()
	status, body := http.StatusOK, "{}"
	if s.answer != nil {
		status, body = s.answer(path, n, r.Context().Done())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, body)
}

// called returns the paths that were called, sorted.
func (s *service) called() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.calls))
}

// forget forgets the calls, but not how often each path was called.
func (s *service) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// anew forgets everything.
func (s *service) anew() {
	s.forget()
	s.times = map[string]int{}
}

// node returns a node that calls a path. more follows its parameters, such as a batch.
func (s *service) node(id, path, more string) string {
	return fmt.Sprintf(`{"id":%q,"type":"http","params":{"url":"%s/%s"}%s}`, id, s.url, path, more)
}

// meeting releases its attendants when a number of them have come.
type meeting struct {
	mu        sync.Mutex
	left      int
	all       chan struct{}
	now, peak int
}

func newMeeting(n int) *meeting { return &meeting{left: n, all: make(chan struct{})} }

// attend waits until all have come, or until it is given up.
func attend[T any](m *meeting, giveUp <-chan T) {
	m.mu.Lock()
	m.now++
	m.peak = max(m.peak, m.now)
	if m.left--; m.left == 0 {
		close(m.all)
	}
	m.mu.Unlock()
	select {
	case <-m.all:
	case <-giveUp:
	}
	m.mu.Lock()
	m.now--
	m.mu.Unlock()
}

// watched is a journal that reports each event when it is written.
type watched struct {
	engine.Journal
	each func(*event.Event)
}

func (w watched) Append(e *event.Event) error {
	err := w.Journal.Append(e)
	w.each(e)
	return err
}

// each returns a config change by which every event is reported when it is written.
func each(f func(*event.Event)) func(*engine.Config) {
	return func(c *engine.Config) { c.Journal = watched{c.Journal, f} }
}
