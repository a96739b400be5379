package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pflow-suite/pflow/scripts/bench/temporalserver"
)

const (
	clusterGapMS   = 15_000
	clusterHistory = 51_200 // events, and 50 MB
	clusterMB      = 512    // resident, of a worker
)

// clusterLosses measures runs on a Temporal cluster that lose their worker in the middle: how long it takes until the next node begins on
// another worker, how many nodes run again, of which there may be as many as ran when the worker was lost, the history, and the memory of the worker that brings the run to its end.
func (b *bench) clusterLosses() ([]result, error) {
	program := os.Getenv("CASE_TEMPORAL")
	if program == "" {
		fmt.Fprintln(os.Stderr, "bench: runs on a cluster are left out: CASE_TEMPORAL does not name Temporal's program")
		return nil, nil
	}
	var results []result
	for _, c := range []struct {
		name     string
		nodes    int
		bytes    int
		together int
	}{{"1,000 nodes of 10 kB", 1000, 7_500, 8}, {"200 MB in 20 nodes", 20, 7_500_000, 1}} {
		dir, err := os.MkdirTemp(b.dir, "cluster-")
		if err != nil {
			return nil, err
		}
		m := &clusterLoss{bench: b, dir: dir, nodes: c.nodes, bytes: c.bytes}
		if err := m.measure(program, c.together); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		results = append(results,
			result{Subject: c.name + ": until it goes on", quantity: quantity{milliseconds(m.gap), "ms"}, Limit: clusterGapMS, Rounds: 1,
				Beside: []figure{{"whole run", quantity{milliseconds(m.took), "ms"}}}},
			result{Subject: c.name + ": nodes that ran again", quantity: quantity{float64(m.again), "nodes"}, Limit: float64(c.together), Rounds: 1,
				Beside: []figure{{"whose commands had ended", quantity{float64(m.finished), "nodes"}}}},
			result{Subject: c.name + ": history", quantity: quantity{float64(m.events), "events"}, Limit: clusterHistory, Rounds: 1,
				Beside: []figure{{"size", quantity{float64(m.size) / 1e6, "MB"}}}},
			result{Subject: c.name + ": memory of a worker", quantity: quantity{m.memory, "MB"}, Limit: clusterMB, Rounds: 1})
	}
	return results, nil
}

// clusterLoss is a run that loses its worker.
type clusterLoss struct {
	*bench
	dir          string
	nodes, bytes int

	gap, took    time.Duration
	again        int // nodes that ran twice; of these, finished had ended before the loss
	finished     int
	events, size int64
	memory       float64
}

func (m *clusterLoss) measure(program string, together int) error {
	server, err := temporalserver.New(program, m.dir)
	if err != nil {
		return err
	}
	defer server.Kill()
	blobs := filepath.Join(m.dir, "blobs")
	if err := os.Mkdir(blobs, 0o700); err != nil {
		return err
	}
	var nodes []object
	for i := range m.nodes {
		nodes = append(nodes, object{"id": fmt.Sprintf("n%d", i), "type": "shell", "params": object{
			"command": fmt.Sprintf("echo %d >> effects; head -c %d /dev/urandom | base64 -w0; echo %d >> done", i, m.bytes, i),
		}})
	}
	raw, err := json.Marshal(object{"nodes": nodes, "edges": []object{}, "outputs": object{"last": object{"source": "${n0.exit_code}"}}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(m.dir, "w.json"), raw, 0o600); err != nil {
		return err
	}
	worker := func(home string) (*exec.Cmd, error) {
		cmd := m.command(server, "worker", "--queue", "bench", "--home", filepath.Join(m.dir, home), "--blobs", blobs, "--log-level", "error")
		return cmd, cmd.Start()
	}
	first, err := worker("one")
	if err != nil {
		return err
	}
	defer func() { _ = first.Process.Kill() }()
	began := time.Now()
	out, err := m.command(server, "start", "w.json", "--queue", "bench", "--format", "text", "--blobs", blobs, "--jobs", strconv.Itoa(together)).Output()
	if err != nil {
		return err
	}
	id := strings.TrimSpace(string(out))
	m.waitFor(m.nodes / 2)
	second, err := worker("two")
	if err != nil {
		return err
	}
	defer func() { _ = second.Process.Kill() }()
	_ = first.Process.Kill()
	_ = first.Wait()
	lost, before, done := time.Now(), m.begun(), m.lines("done")
	m.waitFor(before + 1)
	m.gap = time.Since(lost)
	if out, err := m.command(server, "wait", id, "--blobs", blobs).Output(); err != nil {
		return fmt.Errorf("%w: %.300s", err, out)
	}
	m.took, m.again = time.Since(began), m.begun()-m.nodes
	m.repeated(done)
	var peak usage
	peak.read(second.Process.Pid)
	m.memory = peak.memory
	_ = second.Process.Signal(syscall.SIGTERM)
	_ = second.Wait()
	m.events, m.size, err = server.History(id)
	return err
}

// command returns a command of pflow-temporal.
func (m *clusterLoss) command(server *temporalserver.Server, args ...string) *exec.Cmd {
	cmd := exec.Command(m.path("bin", "pflow-temporal"), args...)
	cmd.Dir, cmd.Stderr = m.dir, os.Stderr
	if args[0] == "wait" {
		cmd.Stderr = nil
	}
	cmd.Env = append(os.Environ(), "HOME="+m.dir, "PFLOW_HOME="+filepath.Join(m.dir, "home"), "TEMPORAL_ADDRESS="+server.Address, "TEMPORAL_CONFIG_FILE=/dev/null")
	return cmd
}

// begun returns how many nodes have begun.
func (m *clusterLoss) begun() int { return len(m.lines("effects")) }

// lines returns the lines of a file that the nodes write.
func (m *clusterLoss) lines(name string) []string {
	b, _ := os.ReadFile(filepath.Join(m.dir, name))
	return strings.Fields(string(b))
}

// repeated counts the nodes that ran again although their commands had ended before the loss.
func (m *clusterLoss) repeated(done []string) {
	ran := map[string]int{}
	for _, id := range m.lines("effects") {
		ran[id]++
	}
	for _, id := range done {
		if ran[id] > 1 {
			m.finished++
		}
	}
}

// waitFor waits until n nodes have begun, for at most five minutes.
func (m *clusterLoss) waitFor(n int) {
	for deadline := time.Now().Add(5 * time.Minute); m.begun() < n && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
	}
}
