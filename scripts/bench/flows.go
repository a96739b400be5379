package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The load on a server of shared flows: how many runs, how many a second, and how many flows and tokens of each they need, because the
// limits admit 100 runs of a flow on a day, and 10 of a token in a minute.
const (
	flowRuns      = 3000
	flowRate      = 50
	sharedFlows   = flowRuns / 100
	tokensOfAFlow = 10
)

// flowServer is a pflow-serve http with shared flows.
type flowServer struct {
	cmd    *exec.Cmd
	env    []string
	url    string
	tokens []string
	stop   func()
}

// serveFlows shares flows of one node and serves them.
func (b *bench) serveFlows(name string, flows, tokens int) (*flowServer, error) {
	dir := b.path(name)
	s := &flowServer{env: append(os.Environ(), "PFLOW_HOME="+dir)}
	if err := os.MkdirAll(filepath.Join(dir, "library"), 0o700); err != nil {
		return nil, err
	}
	for i := range flows {
		flow := "flow-" + strconv.Itoa(i)
		if err := os.WriteFile(filepath.Join(dir, "library", flow+".json"), []byte(`{"nodes":[{"id":"a","type":"shell","params":{"command":":"}}]}`), 0o600); err != nil {
			return nil, err
		}
		for range tokens {
			add := exec.Command(b.path("bin", "pflow-share"), "add", flow, "--owner-funded", "--format=json")
			add.Env = s.env
			var added struct{ Token string }
			out, err := add.Output()
			if err = errors.Join(err, json.Unmarshal(out, &added)); err != nil {
				return nil, err
			}
			s.tokens = append(s.tokens, added.Token)
		}
	}
	s.cmd = exec.Command(b.path("bin", "pflow-serve"), "http", "--listen", "127.0.0.1:0", "--drain", "0s")
	s.cmd.Env = s.env
	line, stop, err := begin(s.cmd)
	if err != nil {
		return nil, err
	}
	_, address, _ := strings.Cut(line, "http://")
	s.url, s.stop = "http://"+strings.Trim(address, "\"}\n"), stop
	return s, nil
}

// post sends a message and returns the answer.
func (s *flowServer) post(client *http.Client, body string) ([]byte, error) {
	response, err := client.Post(s.url, "application/json", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %s", response.StatusCode, answer)
	}
	return answer, err
}

// acceptedFlows asks for 50 runs of flows a second for a minute, and measures when the last is accepted, how long an acceptance takes, and
// whether each has a run of its own that completes.
func (b *bench) acceptedFlows() ([]result, error) {
	s, err := b.serveFlows("flows", sharedFlows, tokensOfAFlow)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100, MaxConnsPerHost: 100}}
	var all sync.WaitGroup
	var mu sync.Mutex
	var waits []float64
	var failed error
	jobs := map[string]bool{}
	began := time.Now()
	for i := range flowRuns {
		time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / flowRate)))
		all.Go(func() {
			asked := time.Now()
			answer, err := s.post(client, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_flow","arguments":{"token":"`+s.tokens[i%len(s.tokens)]+`"}}}`)
			var started struct {
				Result struct {
					StructuredContent struct {
						Job string `json:"job_id"`
					}
				}
			}
			err = errors.Join(err, json.Unmarshal(answer, &started))
			job := started.Result.StructuredContent.Job
			if err == nil && job == "" {
				err = fmt.Errorf("not accepted: %s", answer)
			}
			mu.Lock()
			defer mu.Unlock()
			failed, jobs[job], waits = errors.Join(failed, err), true, append(waits, milliseconds(time.Since(asked)))
		})
	}
	all.Wait()
	took := time.Since(began)
	if failed != nil {
		return nil, failed
	}
	lost, err := b.lostJobs(s, jobs)
	if err != nil {
		return nil, err
	}
	slices.Sort(waits)
	return []result{
		{Subject: "50 runs a second for 60 s, the last accepted after", quantity: quantity{took.Seconds(), "s"}, Limit: 61, Rounds: flowRuns,
			Beside: []figure{{"accepted", quantity{flowRuns / took.Seconds(), "a second"}}, {"p50", quantity{waits[len(waits)/2], "ms"}}, {"p99", quantity{waits[len(waits)*99/100], "ms"}}}},
		{Subject: "accepted runs that are lost", quantity: quantity{float64(lost), "more"}, Rounds: flowRuns},
	}, nil
}

// lostJobs waits until no job goes on, and returns how many of the given ones have not completed with a run of their own.
func (b *bench) lostJobs(s *flowServer, accepted map[string]bool) (lost int, err error) {
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Second) {
		list := exec.Command(b.path("bin", "pflow-share"), "jobs", "--format=ndjson")
		list.Env = s.env
		out, err := list.Output()
		if err != nil {
			return 0, err
		}
		open, runs := 0, map[string]bool{}
		for line := range bytes.Lines(out) {
			var job struct {
				ID     string `json:"job_id"`
				Run    string `json:"run_id"`
				Status string
			}
			if err := json.Unmarshal(line, &job); err != nil {
				return 0, err
			}
			switch {
			case job.Status == "pending" || job.Status == "running":
				open++
			case job.Status == "completed" && accepted[job.ID]:
				runs[job.Run] = true
			}
		}
		if open == 0 || time.Now().After(deadline) {
			return len(accepted) - len(runs), nil
		}
	}
}

// manyRequests sends 100,000 requests to a server of flows, 50 at a time, and measures by how much its memory grows. Most are refused
// before a program is started, or need none; every fiftieth starts one.
func (b *bench) manyRequests() ([]result, error) {
	const mostMemory, requests = 1.25, 100_000
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		return nil, nil
	}
	s, err := b.serveFlows("many-requests", 1, 1)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 50, MaxConnsPerHost: 50}}
	bodies := []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":3,"method":"resources/templates/list"}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"nothing"}}`,
	}
	info := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"get_flow_info","arguments":{"token":"` + s.tokens[0] + `"}}}`
	series := func(n int) error {
		var all sync.WaitGroup
		var mu sync.Mutex
		var failed error
		for worker := range 50 {
			all.Go(func() {
				for i := worker; i < n; i += 50 {
					body := bodies[i/50%len(bodies)]
					if i/50%50 == 0 {
						body = info
					}
					if _, err := s.post(client, body); err != nil {
						mu.Lock()
						failed = err
						mu.Unlock()
						return
					}
				}
			})
		}
		all.Wait()
		return failed
	}
	if err := series(requests / 10); err != nil { // the first ones fill what is kept
		return nil, err
	}
	before, err := residentMB(s.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := series(requests); err != nil {
		return nil, err
	}
	took := time.Since(began)
	after, err := residentMB(s.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	return []result{{
		Subject: "memory after / before", quantity: quantity{after / before, "x"}, Limit: mostMemory, Rounds: requests,
		Beside: []figure{{"before", quantity{before, "MB"}}, {"after", quantity{after, "MB"}}, {"requests", quantity{requests / took.Seconds(), "a second"}}},
	}}, nil
}
