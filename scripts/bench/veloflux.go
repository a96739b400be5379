package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
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

// session is a client of an MCP server, which answers each line on its standard input with one on its standard output.
type session struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	log  bytes.Buffer // the server's standard error
	size int          // of the last response
}

// serveVeloflux starts a server with a new home and begins a session.
func (b *bench) serveVeloflux(url, ttl string) (*session, error) {
	dir, err := os.MkdirTemp(b.dir, "veloflux-")
	if err != nil {
		return nil, err
	}
	s := &session{cmd: exec.Command(b.path("bin", "veloflux-mcp"), "--stdio", "--manager-url", url, "--cache-ttl", ttl)}
	s.cmd.Dir, s.cmd.Stderr = dir, &s.log
	s.cmd.Env = append(os.Environ(), "PFLOW_HOME="+homeIn(dir))
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 1<<20)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		s.stop()
		return nil, fmt.Errorf("veloflux-mcp: %w: %s", err, &s.log)
	}
	return s, nil
}

func (s *session) begin() error {
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	if _, _, err := s.request(hello); err != nil {
		return err
	}
	_, err := io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return err
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

// request sends a line and returns the response, which is valid until the next request, and the time it took.
func (s *session) request(line string) ([]byte, time.Duration, error) {
	start := time.Now()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		return nil, 0, err
	}
	answer, err := s.out.ReadSlice('\n')
	took := time.Since(start)
	if err != nil {
		return nil, 0, err
	}
	if !json.Valid(answer) {
		return nil, 0, errors.New("the response is not JSON")
	}
	return answer, took, nil
}

// stop ends the server as a client does, by closing its standard input.
func (s *session) stop() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}

func percentile(values []float64, p int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)*p/100]
}
