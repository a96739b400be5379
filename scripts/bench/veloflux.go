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

// cachedReads measures how long a client waits for a resource that veloflux-mcp has in its cache. The same read without a
// cache, for which a Manager on the loopback interface is asked, stands beside.
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
		if round > 0 { // the first read asks the Manager in both
			hits, misses = append(hits, milliseconds(hit)), append(misses, milliseconds(miss))
		}
	}
	asked := 0
	for _, r := range manager.Requests() {
		if r.Path == "/functions" { // not what a sweep asks
			asked++
		}
	}
	if asked != 1+rounds+1 {
		return nil, fmt.Errorf("the Manager was asked %d times: 1 for all cached reads and %d for the others is right", asked, rounds+1)
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

// manyFunctions gives a Manager as many functions as the real one has.
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

// session is a client of an MCP server: one line on its standard input for each on its standard output.
type session struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said bytes.Buffer
	size int // of the last answer
}

// serveVeloflux starts a server in a home of its own and begins a session.
func (b *bench) serveVeloflux(url, ttl string) (*session, error) {
	dir, err := os.MkdirTemp(b.dir, "veloflux-")
	if err != nil {
		return nil, err
	}
	s := &session{cmd: exec.Command(b.path("bin", "veloflux-mcp"), "--stdio", "--manager-url", url, "--cache-ttl", ttl)}
	s.cmd.Dir, s.cmd.Stderr = dir, &s.said
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
		return nil, fmt.Errorf("veloflux-mcp: %w: %s", err, &s.said)
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

// read is how long it takes from the request to the whole line of its answer.
func (s *session) read() (time.Duration, error) {
	answer, took, err := s.request(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"veloFlux://catalog/functions_digest"}}`)
	if err != nil {
		return 0, err
	}
	s.size = len(answer)
	if !bytes.Contains(answer, []byte(`\"functions\":[{`)) {
		return 0, fmt.Errorf("the answer is no digest: %.200s", answer)
	}
	return took, nil
}

// request sends a line and waits for the line that answers it, which holds until the next one.
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
		return nil, 0, errors.New("the answer is no JSON")
	}
	return answer, took, nil
}

// stop ends the server as its client does.
func (s *session) stop() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}

func percentile(values []float64, p int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)*p/100]
}
