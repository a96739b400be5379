package suite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	gosync "sync"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/internal/temporalserver"
	"github.com/tidwall/gjson"
)

// cluster is a Temporal server for development.
type cluster struct {
	server *temporalserver.Server
	mu     gosync.Mutex
	queues int
}

// newCluster starts a server, which ends with the test. The test is skipped without the program of Temporal.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	program := os.Getenv("CASE_TEMPORAL")
	if program == "" {
		t.Skip("CASE_TEMPORAL does not name Temporal's program: scripts/test --all installs it")
	}
	server, err := temporalserver.New(program, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	return &cluster{server: server}
}

// place returns a place whose programs use the cluster, and the name of a queue of its own.
func (c *cluster) place(t *testing.T) (p *place, queue string) {
	t.Helper()
	p = newPlace(t)
	p.env = append(p.env, "TEMPORAL_ADDRESS="+c.server.Address, "TEMPORAL_CONFIG_FILE=/dev/null")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queues++
	return p, fmt.Sprintf("queue-%d", c.queues)
}

// clusterWorker is a worker with a home of its own in a place.
type clusterWorker struct {
	*exec.Cmd
	home string
	wait func() error
}

// worker starts a worker. It is ended with the test, and all that has its home must have ended by then.
func (p *place) worker(name, queue string, args ...string) *clusterWorker {
	p.Helper()
	w := &clusterWorker{home: filepath.Join(p.dir, name)}
	w.Cmd = withTest(exec.Command(filepath.Join(bin, "pflow-temporal"), append([]string{"worker", "--queue", queue, "--home", w.home, "--log-level", "info"}, args...)...)) //nolint:gosec // it is a program of the suite
	said, err := os.Create(w.home + ".log")
	if err != nil {
		p.Fatal(err)
	}
	w.Dir, w.Env, w.Stderr = p.dir, slices.Clone(p.env), said
	err = w.Start()
	if err = errors.Join(err, said.Close()); err != nil {
		p.Fatal(err)
	}
	w.wait = gosync.OnceValue(w.Wait)
	p.Cleanup(func() {
		_ = w.Process.Signal(syscall.SIGTERM)
		_ = w.Process.Signal(syscall.SIGTERM)
		_ = w.wait()
		p.eventually("nothing of a worker is left", func() bool { return len(processes("PFLOW_HOME="+w.home)) == 0 })
	})
	return w
}

// kill ends a worker without notice.
func (w *clusterWorker) kill() {
	_ = w.Process.Kill()
	_ = w.wait()
}

// lines returns the lines of a file of the place.
func (p *place) lines(name string) []string {
	p.Helper()
	return strings.Fields(p.read(name))
}

func TestNodesOnACluster(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	t.Run("a batch runs on two workers", c.batch)
	t.Run("a failure is that of the node", c.failure)
	t.Run("secrets need a key", c.secrets)
	t.Run("what is long needs a folder", c.long)
	t.Run("a cancelled run ends its nodes there", c.cancelled)
	t.Run("a lost worker loses its attempts", c.lost)
	t.Run("a worker drains", c.drained)
}

func (c *cluster) batch(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	first, second := p.worker("one", queue, "--slots", "2"), p.worker("two", queue, "--slots", "2")
	const items = 40
	p.write("w.json", fmt.Sprintf(`{"nodes":[
		{"id":"list","type":"shell","params":{"command":"seq -s, %d | sed 's/.*/[&]/'"}},
		{"id":"each","type":"shell","runs_on":"cluster","retry":{"max":3},"batch":{"items":"${list.stdout}","parallel":true,"max_concurrent":4},
		 "params":{"command":"echo \"${item} $PFLOW_NODE_KEY $PFLOW_HOME\" >> effects; echo \"${item}\""}}]}`, items))
	o := p.run("pflow-exec", "run", "w.json", "--runs-on", "cluster=pflow-temporal node --queue "+queue)
	if o.exit != 0 {
		t.Fatal(o)
	}
	seen, keys, homes := map[string]bool{}, map[string]bool{}, map[string]int{}
	for line := range strings.Lines(p.read("effects")) {
		f := strings.Fields(line)
		seen[f[0]], keys[f[1]] = true, true
		homes[f[2]]++
	}
	if len(seen) != items || len(keys) != items || homes[first.home]+homes[second.home] < items || homes[first.home] == 0 || homes[second.home] == 0 {
		t.Errorf("%d items, %d keys, homes %v", len(seen), len(keys), homes)
	}
	for _, e := range p.events(o.stdout) {
		if e["event"] == "node_started" && e["node"] == "each" && e["runs_on"] != "cluster" {
			t.Errorf("%v", e)
		}
	}
}

func (c *cluster) failure(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	p.worker("one", queue)
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","runs_on":"cluster","params":{"command":"echo said; echo why >&2; exit 3"}}]}`)
	o := p.run("pflow-exec", "run", "w.json", "--runs-on", "cluster=pflow-temporal node --queue "+queue)
	if o.exit != 1 {
		t.Fatal(o)
	}
	n := gjson.Get(p.must("pflow-exec", "show", "last"), "nodes.0")
	if n.Get("outputs.exit_code").Int() != 3 || n.Get("outputs.stdout").Str != "said" || n.Get("error.type").Str != "execution_error" {
		t.Error(n.Raw)
	}
	if log := p.must("pflow-exec", "logs", "last", "a", "--stream", "stderr"); gjson.Get(log, "text").Str != "why\n" {
		t.Error(log)
	}
}

func (c *cluster) secrets(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	key := p.write("key", strings.Repeat("0f", 32)+"\n")
	p.worker("one", queue, "--codec-key-file", key)
	request := `{"v":1,"type":"shell","params":{"command":"printf %s \"$API_TOKEN\" | wc -c"},"env":{"API_TOKEN":"hunter22-hunter22"}}`
	if o := p.fed(request, "pflow-temporal", "node", "--queue", queue); o.exit != 2 || !strings.Contains(o.stdout, `"usage_error"`) || strings.Contains(o.String(), "hunter22") {
		t.Error(o)
	}
	o := p.fed(request, "pflow-temporal", "node", "--queue", queue, "--codec-key-file", key)
	if o.exit != 0 || !strings.Contains(o.stdout, `"stdout":"17"`) {
		t.Error(o)
	}
	p.write("w.json", `{"inputs":{"pin":{"type":"string","secret":true}},"nodes":[{"id":"a","type":"shell","runs_on":"cluster","params":{"command":"printf %s ${pin} | wc -c"}}]}`)
	runs := func(flags string) outcome {
		return p.run("pflow-exec", "run", "w.json", "pin=hunter22-hunter22", "--runs-on", "cluster=pflow-temporal node --queue "+queue+flags)
	}
	if o := runs(""); o.exit != 1 || !strings.Contains(o.stdout, "--codec-key-file") || strings.Contains(o.String(), "hunter22") {
		t.Error(o)
	}
	if o := runs(" --codec-key-file " + key); o.exit != 0 || !strings.Contains(o.stdout, `"stdout":"17"`) {
		t.Error(o)
	}
	other := p.write("other", strings.Repeat("aa", 32)+"\n")
	if o := p.fed(request, "pflow-temporal", "node", "--queue", queue, "--codec-key-file", other); o.exit != 1 || strings.Contains(o.stdout, "$action") {
		t.Error(o)
	}
	for _, name := range []string{c.server.Database(), c.server.Database() + "-wal"} {
		b, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("hunter22")) {
			t.Errorf("%s has the secret", name)
		}
	}
}

func (c *cluster) long(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	blobs := filepath.Join(p.dir, "blobs")
	if err := os.Mkdir(blobs, 0o700); err != nil {
		t.Fatal(err)
	}
	p.worker("one", queue, "--blobs", blobs)
	p.write("w.json", `{"nodes":[
		{"id":"a","type":"shell","runs_on":"cluster","params":{"command":"head -c 3000000 /dev/urandom | base64 -w0 | tee sent"}},
		{"id":"b","type":"shell","runs_on":"cluster","params":{"command":"cmp - sent && wc -c < sent","stdin":"${a.stdout}"}}]}`)
	if o := p.run("pflow-exec", "run", "w.json", "--print", "b.stdout", "--runs-on", "cluster=pflow-temporal node --queue "+queue+" --blobs "+blobs); o.exit != 0 || strings.TrimSpace(o.stdout) != "4000000" {
		t.Error(o)
	}
	if left, err := os.ReadDir(blobs); err != nil || len(left) > 0 {
		t.Errorf("the nodes have ended, and the folder of blobs has %v, %v", left, err)
	}
	o := p.run("pflow-exec", "run", "w.json", "--runs-on", "cluster=pflow-temporal node --queue "+queue)
	if o.exit != 1 || !strings.Contains(o.stderr, "--blobs") {
		t.Error(o)
	}
}

func (c *cluster) cancelled(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	w := p.worker("one", queue)
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","runs_on":"cluster","params":{"command":"touch begun; exec sleep 300"}}]}`)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = os.Remove(filepath.Join(p.dir, "begun"))
		cmd := p.command("pflow-exec", "run", "w.json", "--runs-on", "cluster=exec pflow-temporal node --queue "+queue)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p.eventually("the node runs", func() bool { return p.exists("begun") })
		_ = cmd.Process.Signal(sig)
		_ = cmd.Wait()
		p.eventually("the node has ended", func() bool {
			for _, command := range processes("PFLOW_HOME=" + w.home) {
				if strings.Contains(command, "sleep 300") {
					return false
				}
			}
			return true
		})
	}
}

func (c *cluster) lost(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	for _, idempotent := range []bool{false, true} {
		_ = os.Remove(filepath.Join(p.dir, "keys"))
		w := p.worker("one", queue)
		p.write("w.json", fmt.Sprintf(`{"nodes":[{"id":"a","type":"shell","runs_on":"cluster","idempotent":%t,
			"params":{"command":"echo $PFLOW_NODE_KEY >> keys; test $(wc -l < keys) = 2 || exec sleep 300"}}]}`, idempotent))
		cmd := p.command("pflow-exec", "run", "w.json", "--quiet", "--runs-on", "cluster=exec pflow-temporal node --queue "+queue)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p.eventually("the node runs", func() bool { return len(p.lines("keys")) == 1 })
		w.kill()
		second := p.worker("two", queue)
		err := cmd.Wait()
		keys := p.lines("keys")
		if idempotent {
			if err != nil || len(keys) != 2 || keys[0] != keys[1] {
				t.Errorf("%v, keys %v\n%s", err, keys, out.String())
			}
		} else if last := p.events(out.String()); err == nil || len(keys) != 1 || last[len(last)-1]["error"].(map[string]any)["type"] != "unavailable" {
			t.Errorf("%v, keys %v\n%s", err, keys, out.String())
		}
		second.kill()
	}
}

func (c *cluster) drained(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	w := p.worker("one", queue)
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","runs_on":"cluster","params":{"command":"touch begun; while ! test -e go; do sleep 0.05; done; echo done"}}]}`)
	cmd := p.command("pflow-exec", "run", "w.json", "--print", "a.stdout", "--runs-on", "cluster=exec pflow-temporal node --queue "+queue)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.eventually("the node runs", func() bool { return p.exists("begun") })
	p.worker("two", queue) // it completes the workflow, whose activity the first one has executed
	_ = w.Process.Signal(syscall.SIGTERM)
	p.eventually("the worker drains", func() bool { return strings.Contains(p.read("one.log"), "The worker drains") })
	p.write("go", "")
	if err := cmd.Wait(); err != nil || strings.TrimSpace(out.String()) != "done" {
		t.Errorf("%v: %q", err, out.String())
	}
	if _ = w.wait(); w.ProcessState.ExitCode() != 143 {
		t.Errorf("the worker ended with %v", w.ProcessState)
	}
}
