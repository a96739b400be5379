package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pflow-suite/pflow/scripts/bench/temporalserver"
)

const (
	// clusterItems are the items of the batch of a trial, and clusterNodes the nodes of its whole run.
	clusterItems = 24
	clusterNodes = 10
	// clusterKills is the most kills of a trial.
	clusterKills = 4
	// clusterPatience is how long all may take. A lost worker is noticed after 8 seconds.
	clusterPatience = 4 * time.Minute
	clusterQueue    = "trial"
)

// onCluster is the part of a trial that a Temporal server and two workers with homes of their own take.
type onCluster struct {
	*trial
	items   int
	server  *temporalserver.Server
	workers [2]*call
	// serving is held while the server is killed and started again. watching is closed when the trial ends.
	serving  sync.Mutex
	watching chan struct{}
	// restarts counts how often the server was started again because it did not answer.
	restarts atomic.Int32
	// batch is the run whose items a runner executes on the workers, in a home of its own, and whole the id of a run that is executed there.
	batch *call
	whole string
	// follower prints the events of the whole run.
	follower *call
	// wholeEffects is the file of the side effects of the whole run.
	wholeEffects string
	// finished has how often each node of the whole run had run when the cluster knew that it had finished.
	finished map[string]int
	// blobs is --blobs with a folder in every second trial. Then no finished node may run again, whatever the cluster knew.
	blobs []string
}

// cluster has a batch and a whole run executed on a cluster, and kills workers, the server, and the commands that send the work. All must
// end; a node that had finished, as far as the cluster knew, must not run again, another one once more at most for each kill.
func (t *trial) cluster() error {
	c := &onCluster{trial: t, items: clusterItems, wholeEffects: filepath.Join(t.dir, "whole.txt"), finished: map[string]int{}}
	defer c.shutDown()
	if err := c.begin(clusterNodes); err != nil {
		return err
	}
	for range 1 + t.rng.IntN(clusterKills) {
		time.Sleep(t.soon(2500 * time.Millisecond))
		if err := c.killSomething(); err != nil {
			return err
		}
	}
	deadline := time.Now().Add(clusterPatience)
	if err := c.untilBatchEnds(deadline); err != nil {
		return err
	}
	if err := c.untilWholeEnds(deadline); err != nil {
		return err
	}
	c.verifyBatch()
	c.verifyWhole()
	c.verifyNothingIsOpen()
	return nil
}

// begin starts the server, the workers and the runs.
func (c *onCluster) begin(nodes int) (err error) {
	c.env["TEMPORAL_CONFIG_FILE"] = "/dev/null"
	if c.server, err = temporalserver.New(c.rig.temporal, c.dir); err != nil {
		return err
	}
	c.env["TEMPORAL_ADDRESS"] = c.server.Address
	if c.rng.IntN(2) == 0 {
		folder := filepath.Join(c.dir, "blobs")
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
		c.blobs = []string{"--blobs", folder}
	}
	c.watching = make(chan struct{})
	go c.watchServer()
	for i := range c.workers {
		if err := c.startWorker(i); err != nil {
			return err
		}
	}
	c.file = filepath.Join(c.dir, "batch.json")
	settings := `{"runners":{"cluster":` + strconv.Quote("exec pflow-temporal node --queue "+clusterQueue) + `}}`
	if err := os.WriteFile(filepath.Join(c.home, "settings.json"), []byte(settings), 0o600); err != nil {
		return err
	}
	for name, w := range map[string]object{c.file: clusterBatch(c.items), filepath.Join(c.dir, "whole.json"): clusterWhole(nodes)} {
		raw, err := json.Marshal(w)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			return err
		}
	}
	if err := c.startBatch(); err != nil || nodes == 0 {
		return err
	}
	start, err := c.command("start", filepath.Join(c.dir, "whole.json"), "--queue", clusterQueue, "--format", "text")
	if err != nil {
		return err
	}
	if c.wait(start); start.exit != 0 {
		return fmt.Errorf("start: %s", quote(start.stderr))
	}
	text, err := os.ReadFile(start.stdout)
	c.whole = strings.TrimSpace(string(text))
	if err == nil {
		c.follower, err = c.command("events", c.whole, "--follow")
	}
	return err
}

// command starts a command of pflow-temporal.
func (c *onCluster) command(args ...string) (*call, error) {
	return c.startProgram("pflow-temporal", "", append(args, c.blobs...)...)
}

// clusterBatch returns a workflow with a batch that a runner executes, and a node after it.
func clusterBatch(items int) object {
	retry := object{"max": 2 * clusterKills, "wait": "50ms"}
	each := object{
		"id": "each", "type": "shell", "runs_on": "cluster", "retry": retry, "batch": object{"items": numbers(items), "parallel": true, "max_concurrent": 4},
		"params": object{"command": effect + "sleep 0.15; echo ${item}"},
	}
	after := object{"id": "after", "type": "shell", "runs_on": "cluster", "retry": retry, "params": object{"command": effect + "echo ${each.success_count}"}}
	return object{"nodes": []object{each, after}, "edges": []object{{"from": "each", "to": "after"}}, "outputs": object{"count": object{"source": "${after.stdout}"}}}
}

// clusterWhole returns a workflow of nodes one after another, each with the length of what those before it have printed.
func clusterWhole(n int) object {
	var nodes, edges []object
	for i := range n {
		command := effect + "sleep 0.3; printf '%01000d' 0"
		if i > 0 {
			command = effect + "sleep 0.3; cat; printf '%01000d' 0"
		}
		node := object{"id": fmt.Sprintf("n%d", i), "type": "shell", "params": object{"command": command}}
		if i > 0 {
			node["params"].(object)["stdin"] = fmt.Sprintf("${n%d.stdout}", i-1)
			edges = append(edges, object{"from": fmt.Sprintf("n%d", i-1), "to": fmt.Sprintf("n%d", i)})
		}
		nodes = append(nodes, node)
	}
	return object{"nodes": nodes, "edges": edges, "outputs": object{"all": object{"source": fmt.Sprintf("${n%d.stdout}", n-1)}}}
}

// startWorker starts a worker, whose nodes leave the side effects of whole runs in a file of their own.
func (c *onCluster) startWorker(i int) (err error) {
	before := c.env["EFFECTS"]
	c.env["EFFECTS"] = c.wholeEffects
	c.env["TMPDIR"] = filepath.Join(c.dir, "tmp")
	if err := os.MkdirAll(c.env["TMPDIR"], 0o700); err != nil {
		return err
	}
	c.workers[i], err = c.command("worker", "--queue", clusterQueue, "--slots", "2", "--home", c.workerHome(i), "--log-level", "warn")
	c.env["EFFECTS"] = before
	return err
}

func (c *onCluster) workerHome(i int) string {
	return filepath.Join(c.dir, fmt.Sprintf("worker-%d", i))
}

// startBatch starts the run of the batch, or goes on with it.
func (c *onCluster) startBatch() (err error) {
	c.batch, err = c.startProgram("pflow-exec", "", "run", c.file, "--quiet", "--checkpoint", filepath.Join(c.dir, "batch.ndjson"))
	return err
}

// noteFinished notes how often the nodes of the whole run have run that have finished, as far as the cluster knows.
func (c *onCluster) noteFinished() error {
	events, err := c.command("events", c.whole)
	if err != nil {
		return err
	}
	if c.wait(events); events.exit != 0 {
		return nil // the server is about to start
	}
	text, err := os.ReadFile(events.stdout)
	ran := c.ranWhole()
	for line := range bytes.Lines(text) {
		var e event
		if json.Unmarshal(line, &e) == nil && (e.Event == "node_completed" || e.Event == "node_reused") {
			if _, known := c.finished[e.Node]; !known {
				c.finished[e.Node] = ran[e.Node]
			}
		}
	}
	return err
}

// ranWhole returns how often each node of the whole run has run.
func (c *onCluster) ranWhole() map[string]int {
	ran := map[string]int{}
	text, _ := os.ReadFile(c.wholeEffects)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 {
			ran[f[1]]++
		}
	}
	return ran
}
