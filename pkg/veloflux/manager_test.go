package veloflux

import (
	"cmp"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// managerFor returns a client that is closed at the end of the test. Its timeout is a minute unless c has another.
func managerFor(t *testing.T, c Config) *Manager {
	t.Helper()
	c.Timeout = cmp.Or(c.Timeout, time.Minute)
	m, err := NewManager(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// serverOf starts a server that is closed at the end of the test.
func serverOf(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// failureOf asserts that an error is an *Error.
func failureOf(t *testing.T, err error) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("not an *Error: %v", err)
	}
	return e
}
