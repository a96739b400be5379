package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pflow-suite/pflow/scripts/bench/temporalserver"
)

const (
	batchItems   = 1000
	batchLimitMS = 300_000
)

// clusterBatch measures a batch whose items a runner executes on two workers with homes of their own. Each item must be done, and both workers
// must have done some. An item is done again only if its worker counted as lost, which on a machine that is overloaded may happen.
func (b *bench) clusterBatch() ([]result, error) {
	program := os.Getenv("CASE_TEMPORAL")
	if program == "" {
		fmt.Fprintln(os.Stderr, "bench: a batch on a cluster is left out: CASE_TEMPORAL does not name Temporal's program")
		return nil, nil
	}
	dir, err := os.MkdirTemp(b.dir, "cluster-")
	if err != nil {
		return nil, err
	}
	m := &clusterLoss{bench: b, dir: dir}
	server, err := temporalserver.New(program, dir)
	if err != nil {
		return nil, err
	}
	defer server.Kill()
	for _, home := range []string{"one", "two"} {
		w := m.command(server, "worker", "--queue", "bench", "--slots", "4", "--home", filepath.Join(dir, home), "--log-level", "error")
		if err := w.Start(); err != nil {
			return nil, err
		}
		defer func() {
			_ = w.Process.Signal(syscall.SIGTERM)
			_ = w.Wait()
		}()
	}
	items := make([]int, batchItems)
	for i := range items {
		items[i] = i
	}
	raw, err := json.Marshal(object{"nodes": []object{{
		"id": "each", "type": "shell", "runs_on": "cluster", "idempotent": true, "batch": object{"items": items, "parallel": true, "max_concurrent": 8},
		"params": object{"command": "echo ${item} ${PFLOW_HOME##*/} >> effects; echo ${item}"},
	}}})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "w.json"), raw, 0o600); err != nil {
		return nil, err
	}
	run := exec.Command(b.path("bin", "pflow-exec"), "run", "w.json", "--format", "json", "--quiet", "--runs-on", "cluster=exec pflow-temporal node --queue bench")
	run.Dir, run.Stderr = dir, os.Stderr
	run.Env = append(m.command(server, "node").Env, "PATH="+filepath.Dir(b.path("bin", "pflow-exec"))+":"+os.Getenv("PATH"))
	began := time.Now()
	if out, err := run.Output(); err != nil {
		return nil, fmt.Errorf("%w: %.300s", err, out)
	}
	took := time.Since(began)
	done, homes := map[string]int{}, map[string]int{}
	words := m.lines("effects")
	for i := 0; i+1 < len(words); i += 2 {
		done[words[i]]++
		homes[words[i+1]]++
	}
	if len(done) != batchItems || homes["one"] == 0 || homes["two"] == 0 {
		return nil, fmt.Errorf("%d of %d items were done, in %d attempts, by the workers %v", len(done), batchItems, len(words)/2, homes)
	}
	return []result{{
		Subject: fmt.Sprintf("%d items on two workers, 8 at a time", batchItems), quantity: quantity{milliseconds(took), "ms"}, Limit: batchLimitMS, Rounds: 1,
		Beside: []figure{{"first worker", quantity{float64(homes["one"]), "items"}}, {"second worker", quantity{float64(homes["two"]), "items"}}, {"done again", quantity{float64(len(words)/2 - batchItems), "items"}}},
	}}, nil
}
