package veloflux

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func TestRedirectsThatAreFollowed(t *testing.T) {
	var log requestLog
	s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		log.add(r)
		if r.Header.Get("Authorization") != "Bearer abc" {
			t.Error("the credential is lost on the way")
		}
		switch r.URL.Path {
		case "/b/streams":
			http.Redirect(w, r, "/b/1", http.StatusFound)
		case "/b/5":
			_, _ = w.Write([]byte("[]"))
		default:
			n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/b/"))
			http.Redirect(w, r, "/b/"+strconv.Itoa(n+1), http.StatusPermanentRedirect)
		}
	})
	m := managerFor(t, Config{URL: s.URL + "/b", Header: http.Header{"Authorization": {"Bearer abc"}}})
	if body, err := m.Streams(t.Context()); err != nil || string(body) != "[]" || len(log.take()) != 6 {
		t.Errorf("%s %v", body, err)
	}
}

func TestRedirectsThatAreNotFollowed(t *testing.T) {
	other := serverOf(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server was asked: %s %v", r.RequestURI, r.Header)
	})
	streams := func(ctx context.Context, m *Manager) error { _, err := m.Streams(ctx); return err }
	remove := func(ctx context.Context, m *Manager) error { return m.DeletePipeline(ctx, "p") }
	for _, tc := range []struct {
		call        func(context.Context, *Manager) error
		status      int
		place, says string
		requests    int
	}{
		{streams, 302, other.URL + "/b/streams?token=s3cret", "redirects to " + other.URL + "/b/streams, which is another server", 1},
		{streams, 307, "https://HOST/b/streams", "redirects to https://HOST/b/streams, which is another server", 1},
		{streams, 308, "http://ann:s3cret@HOST/b/x", "redirects to http://HOST/b/x, which is another server", 1},
		{streams, 301, "/streams", "redirects to http://HOST/streams, which is outside the Manager's URL", 1},
		{streams, 301, "/b", "redirects to http://HOST/b, which is outside", 1},
		{streams, 301, "/bb/streams", "which is outside", 1},
		{streams, 302, "/b/%2e%2e/admin", "which is outside", 1},
		{streams, 302, `/b/..%5cadmin`, "which is outside", 1},
		{streams, 302, "/b/streams", "at most 5 redirects", 6},
		{asCreate, 301, "/b/pipelines/", "POST /pipelines failed: HTTP 301 redirects to http://HOST/b/pipelines/, which is followed only for GET", 1},
		{asCreate, 302, "/b/pipelines", "only for GET", 1},
		{asCreate, 303, "/b/pipelines", "only for GET", 1},
		{asCreate, 307, "/b/pipelines", "only for GET", 1},
		{asCreate, 308, other.URL, "only for GET", 1},
		{remove, 303, "/b/pipelines", "DELETE /pipelines/p failed: HTTP 303 redirects to http://HOST/b/pipelines, which is followed only for GET", 1},
		{remove, 307, "/b/pipelines/q", "only for GET", 1},
	} {
		var log requestLog
		s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
			log.add(r)
			w.Header().Set("Location", strings.ReplaceAll(tc.place, "HOST", r.Host))
			w.WriteHeader(tc.status)
		})
		m := managerFor(t, Config{URL: s.URL + "/b", Header: http.Header{"Authorization": {"Bearer abc"}}})
		e := failureOf(t, tc.call(t.Context(), m))
		says := strings.ReplaceAll(tc.says, "HOST", strings.TrimPrefix(s.URL, "http://"))
		if e.Code != CodeManagerHTTP || e.Details["status"] != tc.status || !strings.Contains(e.Message, says) || strings.Contains(e.Message, "s3cret") {
			t.Errorf("%d %s: %+v, want %q", tc.status, tc.place, e, says)
		}
		if seen := log.take(); len(seen) != tc.requests {
			t.Errorf("%d %s: requests %q", tc.status, tc.place, seen)
		}
	}
}
