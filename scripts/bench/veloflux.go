package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"time"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

// cachedReads measures how long a client waits for a resource that veloflux-mcp has in its cache, next to the same read without
// a cache, which asks a Manager on the loopback interface.
func (b *bench) cachedReads() ([]result, error) {
	const rounds = 3000
	manager, err := velofluxserver.Listen()
	if err != nil {
		return nil, err
	}
	defer manager.Close()
	if err := manyFunctions(manager); err != nil {
		return nil, err
	}
	cached, err := b.serveVeloflux(manager.URL, "1h")
	if err != nil {
		return nil, err
	}
	defer cached.stop()
	uncached, err := b.serveVeloflux(manager.URL, "0")
	if err != nil {
		return nil, err
	}
	defer uncached.stop()

	var hits, misses []float64
	for round := range rounds + 1 {
		hit, err := cached.read()
		if err != nil {
			return nil, err
		}
		miss, err := uncached.read()
		if err != nil {
			return nil, err
		}
		if round > 0 { // the first read asks the Manager in both cases
			hits, misses = append(hits, milliseconds(hit)), append(misses, milliseconds(miss))
		}
	}
	asked := 0
	for _, r := range manager.Requests() {
		if r.Path == "/functions" { // other requests are those of a sweep
			asked++
		}
	}
	if asked != 1+rounds+1 {
		return nil, fmt.Errorf("the Manager got %d requests, want 1 for all cached reads and %d for the others", asked, rounds+1)
	}
	return []result{{
		Subject: "veloflux-mcp, functions_digest", quantity: quantity{median(hits), "ms"}, Limit: 1, Rounds: rounds,
		Beside: []figure{
			{"99th percentile", quantity{percentile(hits, 99), "ms"}},
			{"not cached", quantity{median(misses), "ms"}},
			{"its size", quantity{float64(cached.size), "bytes"}},
		},
	}}, nil
}

// manyFunctions lets a Manager return as many functions as the real one.
func manyFunctions(manager *velofluxserver.Server) error {
	answer := httptest.NewRecorder()
	manager.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/functions", http.NoBody))
	var few, many []map[string]any
	if err := json.Unmarshal(answer.Body.Bytes(), &few); err != nil {
		return err
	}
	for i := range 135 {
		f := maps.Clone(few[i%len(few)])
		f["name"] = fmt.Sprintf("%s_%d", f["name"], i)
		many = append(many, f)
	}
	body, err := json.Marshal(many)
	if err != nil {
		return err
	}
	manager.Reset()
	manager.On(http.MethodGet, "/functions", velofluxserver.Fault{Body: string(body), ContentType: "application/json"})
	return nil
}

// serveVeloflux starts a server with a new home and begins a session.
func (b *bench) serveVeloflux(url, ttl string) (*session, error) {
	dir, err := os.MkdirTemp(b.dir, "veloflux-")
	if err != nil {
		return nil, err
	}
	return connect(dir, b.path("bin", "veloflux-mcp"), "--stdio", "--manager-url", url, "--cache-ttl", ttl)
}

// read returns the time from the request to the end of the response.
func (s *session) read() (time.Duration, error) {
	answer, took, err := s.request(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"veloFlux://catalog/functions_digest"}}`)
	if err != nil {
		return 0, err
	}
	s.size = len(answer)
	if !bytes.Contains(answer, []byte(`\"functions\":[{`)) {
		return 0, fmt.Errorf("the response is not a digest: %.200s", answer)
	}
	return took, nil
}

func percentile(values []float64, p int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)*p/100]
}
