package veloflux

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

// TestCreatesThatTimeOutLeaveNothing verifies through a proxy that passes creates on when the client has given them up. With
// VELOFLUX_ORPHANS=1 it does so 100 times, and the Manager takes up to 28 seconds.
func TestCreatesThatTimeOutLeaveNothing(t *testing.T) {
	t.Parallel()
	times, most := 10, 2*time.Second
	if os.Getenv("VELOFLUX_ORPHANS") != "" {
		times, most = 100, 28*time.Second
	}
	s := velofluxserver.Start(t)
	url := delaying(t, s.URL, func() time.Duration { return 1500*time.Millisecond + rand.N(most) })
	created := func() (n int) {
		for _, r := range s.Requests() {
			if r.Method == http.MethodPost {
				n++
			}
		}
		return n
	}
	var all sync.WaitGroup
	for range times {
		all.Go(func() {
			m, err := NewManager(Config{URL: url, Timeout: time.Second})
			if err != nil {
				t.Error(err)
				return
			}
			r, err := NewRuntime(m, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			_, err = r.CallTool(t.Context(), "pipelines.verify", json.RawMessage(`{"sql":"SELECT a FROM user"}`))
			id, _ := AsError(err).Details["temporary_pipeline"].(string)
			if AsError(err).Code != CodeTimeout || !strings.HasPrefix(id, temporaryPrefix) || !strings.Contains(err.Error(), id) {
				t.Errorf("%+v", err)
			}
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			if err := r.Close(ctx); err != nil || len(r.Temporary()) > 0 {
				t.Errorf("after %s: %v, %q", time.Since(began), err, r.Temporary())
			}
		})
	}
	all.Wait()
	if left := s.Pipelines(); len(left) > 0 || created() != times {
		t.Errorf("%d were created, and %q are left", created(), left)
	}
}

// TestCloseNamesWhatItCannotSettle ends a runtime while the Manager answers nothing.
func TestCloseNamesWhatItCannotSettle(t *testing.T) {
	s := velofluxserver.Start(t)
	s.On("", "", velofluxserver.Fault{Hang: true})
	m, err := NewManager(Config{URL: s.URL, Timeout: time.Second / 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRuntime(m, Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	e := refusedWith(t, r, CodeTimeout, "pipelines.verify", `{"sql":"SELECT a FROM user"}`)
	id, _ := e.Details["temporary_pipeline"].(string)
	if got := r.Temporary(); len(got) != 1 || got[0] != id {
		t.Errorf("%q are known, not %q", got, id)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := r.Close(ctx); err == nil || !strings.Contains(err.Error(), id) {
		t.Errorf("%v does not name %s", err, id)
	}
}

// TestAPlanThatCannotBeShown has a Manager that closes the connection when it is asked for the plan, as the real one does
// when it panics. The SQL is valid, since the create was answered.
func TestAPlanThatCannotBeShown(t *testing.T) {
	s := velofluxserver.Start(t)
	undo := s.On(http.MethodGet, "/pipelines/{id}/explain", velofluxserver.Fault{Drop: true})
	r := runtimeOf(t, s.URL, Options{})
	answer := called(t, r, "pipelines.verify", `{"sql":"SELECT a FROM user LIMIT 5"}`)
	if !gjson.Get(answer, "valid").Bool() || gjson.Get(answer, "pretty").Str != "" || gjson.Get(answer, "warnings.#.construct").Raw != `["LIMIT","plan"]` {
		t.Error(answer)
	}
	gone(t, s)
	undo()
	s.On(http.MethodGet, "/pipelines/{id}/explain", velofluxserver.Fault{Status: 500, Body: "no"})
	refusedWith(t, r, CodeManagerHTTP, "pipelines.verify", `{"sql":"SELECT a FROM user"}`)
	gone(t, s)
}

// delaying starts a proxy in front of a Manager and returns its URL. It passes each create of a pipeline on after the given
// delay, even if the client has gone away by then, and everything else at once.
func delaying(t *testing.T, manager string, delay func() time.Duration) string {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		out, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, manager+r.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		out.Header = r.Header.Clone()
		if r.Method == http.MethodPost {
			time.Sleep(delay())
		}
		a, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer func() { _ = a.Body.Close() }()
		w.WriteHeader(a.StatusCode)
		_, _ = io.Copy(w, a.Body)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}
