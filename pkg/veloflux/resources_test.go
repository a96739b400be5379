package veloflux

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

func TestResourcesAreRead(t *testing.T) {
	r := runtimeOf(t, velofluxserver.Start(t).URL, Options{CacheTTL: time.Hour})
	for _, tc := range []struct{ uri, path, want string }{
		{"veloFlux://catalog/functions_digest", `functions.#(name=="sum").kind`, "aggregate"},
		{"veloflux://catalog/functions_digest", `functions.#(name=="sum").kind`, "aggregate"},
		{" VELOFLUX://catalog/syntax_digest ", "ir", "SelectStmt"},
		{"veloFlux://streams/snapshot", `streams.#(name=="user").cols`, "4"},
		{"veloFlux://streams/schema?name=user", "schema.columns.2.data_type", "string"},
		{"veloflux://streams/schema?name=veh%20data%2F%E4%B8%AD%E6%96%87%3F%23%25", "name", "veh data/中文?#%"},
		{"veloflux://streams/schema?name=veh+data/中文%3F%23%25", "name", "veh data/中文?#%"},
	} {
		content, err := r.ReadResource(t.Context(), tc.uri)
		if err != nil {
			t.Errorf("%s: %v", tc.uri, err)
			continue
		}
		if got := gjson.GetBytes(content.Document, tc.path).String(); got != tc.want || content.MIMEType != "application/json" || content.URI != tc.uri {
			t.Errorf("%s: %s is %q in %+v", tc.uri, tc.path, got, content)
		}
		if content.TTL <= 0 || content.TTL > time.Hour || content.Private {
			t.Errorf("%s: fresh for %s, private %v", tc.uri, content.TTL, content.Private)
		}
	}
}

func TestResourcesThatAreNone(t *testing.T) {
	s := velofluxserver.Start(t)
	r := runtimeOf(t, s.URL, Options{})
	for uri, code := range map[string]Code{
		"":                                        CodeNotFound,
		"veloflux://":                             CodeNotFound,
		"veloflux://streams":                      CodeNotFound,
		"veloflux://streams/snapshot/extra":       CodeNotFound,
		"veloflux://streams/snapshot?x=1":         CodeInvalidParams,
		"http://streams/snapshot":                 CodeNotFound,
		"streams/snapshot":                        CodeNotFound,
		"veloflux://streams/schema":               CodeInvalidParams,
		"veloflux://streams/schema?":              CodeInvalidParams,
		"veloflux://streams/schema?name=":         CodeInvalidParams,
		"veloflux://streams/schema?name=a&b=c":    CodeInvalidParams,
		"veloflux://streams/schema?name=%zz":      CodeInvalidParams,
		"veloflux://streams/schema?name=..":       CodeInvalidParams,
		"veloflux://streams/schema?name=a&name=b": CodeInvalidParams,
	} {
		if _, err := r.ReadResource(t.Context(), uri); err == nil || AsError(err).Code != code {
			t.Errorf("%q: %v", uri, err)
		}
	}
	if asked := s.Requests(); len(asked) > 0 {
		t.Errorf("the Manager was asked %v", asked)
	}
	_, err := r.ReadResource(t.Context(), "veloflux://streams/schema?name=nope")
	if e := AsError(err); e.Code != CodeNotFound || !strings.Contains(e.Message, "stream nope not found") {
		t.Errorf("%+v", err)
	}
}

// TestSnapshotIsTheSameUntilItIsFetchedAnew also asserts that all spellings of a URI share one cache entry.
func TestSnapshotIsTheSameUntilItIsFetchedAnew(t *testing.T) {
	s := velofluxserver.Start(t)
	kept, fresh := runtimeOf(t, s.URL, Options{CacheTTL: time.Hour}), runtimeOf(t, s.URL, Options{})
	first, err := kept.ReadResource(t.Context(), "veloFlux://streams/snapshot")
	if err != nil {
		t.Fatal(err)
	}
	fetched, err := time.Parse(time.RFC3339, gjson.GetBytes(first.Document, "fetched_at").String())
	if age := time.Since(fetched); err != nil || age < -time.Second || age > time.Minute {
		t.Errorf("fetched %s ago, %v", age, err)
	}
	s.AddStream(`{"name":"later","type":"mock","schema":{"type":"json","props":{"columns":[{"name":"a","data_type":"int64"}]}}}`)
	for range 3 {
		again, err := kept.ReadResource(t.Context(), "veloflux://streams/snapshot")
		if err != nil || !bytes.Equal(again.Document, first.Document) {
			t.Errorf("not the same: %s %v", again.Document, err)
		}
	}
	anew, err := fresh.ReadResource(t.Context(), "veloFlux://streams/snapshot")
	if err != nil || !bytes.Contains(anew.Document, []byte("later")) || anew.TTL != 0 {
		t.Errorf("%+v %v", anew, err)
	}
}

func TestReadersOfAColdResourceShareOneRequest(t *testing.T) {
	s := velofluxserver.Start(t)
	s.On(http.MethodGet, "/functions", velofluxserver.Fault{Delay: 100 * time.Millisecond}) // so that all of them find it cold
	r := runtimeOf(t, s.URL, Options{CacheTTL: time.Hour})
	var readers sync.WaitGroup
	for range 50 {
		readers.Go(func() {
			if _, err := r.ReadResource(t.Context(), "veloFlux://catalog/functions_digest"); err != nil {
				t.Error(err)
			}
		})
	}
	readers.Wait()
	if asked := s.Requests(); len(asked) != 1 {
		t.Errorf("%d requests", len(asked))
	}
}

func TestFailedReadsAreNotKept(t *testing.T) {
	s := velofluxserver.Start(t)
	s.On(http.MethodGet, "/streams", velofluxserver.Fault{Times: 1, Status: 500, Body: "boom"})
	s.On(http.MethodGet, "/functions", velofluxserver.Fault{Times: 1, Status: 200, Body: `{"not":"a list"}`, ContentType: "application/json"})
	r := runtimeOf(t, s.URL, Options{CacheTTL: time.Hour})
	for _, uri := range []string{"veloflux://streams/snapshot", "veloflux://catalog/functions_digest"} {
		if _, err := r.ReadResource(t.Context(), uri); err == nil || AsError(err).Code != CodeManagerHTTP {
			t.Errorf("%s: %v", uri, err)
		}
		if _, err := r.ReadResource(t.Context(), uri); err != nil {
			t.Errorf("%s again: %v", uri, err)
		}
	}
}

// TestADigestThatFailsShowsNoSecret has a Manager that responds with the headers that it received.
func TestADigestThatFailsShowsNoSecret(t *testing.T) {
	s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"constructs":[3,%q]}`, r.Header.Get("Authorization"))
	})
	r, err := NewRuntime(managerFor(t, Config{URL: s.URL, Header: http.Header{"Authorization": {"Bearer k-0123456789"}}}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.ReadResource(t.Context(), "veloFlux://catalog/syntax_digest")
	e := failureOf(t, err)
	if e.Code != CodeManagerHTTP || e.Details["status"] != 200 || e.Details["response"] != `{"constructs":[3,"<redacted>"]}` || !strings.Contains(e.Message, "is a number, not an object") {
		t.Errorf("%+v", e)
	}
}
