package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/check"
	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/mcpclient"
	"github.com/pflow-suite/pflow/pkg/node"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/redact"
	"github.com/pflow-suite/pflow/pkg/run"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// builtin are the node types of these tests.
type builtin struct{}

func (builtin) Type(name string) (nodetype.Type, bool, error) {
	t, ok := nodetype.Builtin(name)
	return t, ok, nil
}
func (builtin) Types() ([]nodetype.Type, error) { return nil, nil }

// bench is a place to run workflows in.
type bench struct {
	t    tester
	home *home.Home
	dir  string
}

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func newBench(t *testing.T) *bench {
	h, err := home.Open(filepath.Join(t.TempDir(), "home"), "")
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, home: h, dir: t.TempDir()}
}

// played is a run that has ended.
type played struct {
	id     string
	last   *event.Event
	events []*event.Event
	lines  [][]byte
	rec    *run.Record
}

// play runs a workflow to its end. adjust may change how.
func (b *bench) play(ctx context.Context, definition string, adjust func(*engine.Config)) *played {
	file, err := workflow.Parse("w.json", []byte(definition))
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	report := check.Workflow(file, builtin{})
	if f := report.Fault("w.json"); f != nil {
		b.t.Fatalf("%v", f)
	}
	rec, err := run.Create(b.home, run.Options{Definition: file.Source})
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	defer rec.Close()
	c := engine.Config{
		RunID: rec.ID, Record: rec, Workflow: file.Workflow, Kinds: report.Kinds, Jobs: 4, Redactor: redact.New(), Log: slog.New(slog.DiscardHandler),
		Started: event.Workflow{Name: "w", Definition: file.Source}, Inputs: map[string]json.RawMessage{},
		Host: node.Host{Dir: b.dir, Env: []string{"PATH=/usr/bin:/bin"}, Servers: mcpclient.NewPool(func(string) (mcpclient.Spec, error) { return mcpclient.Spec{}, errors.New("no servers here") })},
	}
	if adjust != nil {
		adjust(&c)
	}
	last, err := engine.Run(ctx, c)
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	return b.read(rec.ID, last)
}

func (b *bench) read(id string, last *event.Event) *played {
	rec, err := run.Find(b.home, id)
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	p := &played{id: id, last: last, rec: rec}
	journal, err := rec.Open()
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	defer func() { _ = journal.Close() }()
	r := event.NewReader(journal)
	for {
		e, line, err := r.Next()
		if errors.Is(err, io.EOF) {
			return p
		}
		if err != nil {
			b.t.Fatalf("%v", err)
		}
		p.events, p.lines = append(p.events, e), append(p.lines, line)
	}
}

// from is the checkpoint of the first n events of a run.
func (p *played) from(b *bench, n int) func(*engine.Config) {
	checkpoint, err := engine.ReadCheckpoint(bytes.NewReader(bytes.Join(p.lines[:n], nil)), p.rec.Blob)
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	return func(c *engine.Config) { c.From = checkpoint }
}

func (p *played) whole(b *bench) func(*engine.Config) { return p.from(b, len(p.lines)) }

// nodes are the ids of the nodes with an event of a kind, sorted.
func (p *played) nodes(kind event.Kind) string {
	var ids []string
	for _, e := range p.events {
		if e.Event == kind {
			ids = append(ids, e.Node)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func (b *bench) file(name string) string {
	content, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return ""
	}
	return string(content)
}

// shellNode is a node that runs a command.
func shellNode(id, command string) string {
	return fmt.Sprintf(`{"id":%q,"type":"shell","params":{"command":%s}}`, id, rawjson.Quote(command))
}

func TestIndependentNodesRunAtTheSameTime(t *testing.T) {
	b := newBench(t)
	// Each waits for the other: one after the other they would never end.
	meet := `mkfifo %[1]s 2>/dev/null; mkfifo %[2]s 2>/dev/null; echo x > %[1]s & read y < %[2]s; wait`
	p := b.play(t.Context(), `{"nodes":[`+shellNode("a", fmt.Sprintf(meet, "f1", "f2"))+`,`+shellNode("b", fmt.Sprintf(meet, "f2", "f1"))+`]}`, nil)
	if p.last.Status != event.Completed {
		t.Errorf("%+v", p.last.Error)
	}
}

func TestJobsBoundWhatRunsAtOnce(t *testing.T) {
	b := newBench(t)
	var nodes []string
	for i := range 6 {
		nodes = append(nodes, shellNode(fmt.Sprintf("n%d", i), "mkdir busy && rmdir busy"))
	}
	if p := b.play(t.Context(), `{"nodes":[`+strings.Join(nodes, ",")+`]}`, func(c *engine.Config) { c.Jobs = 1 }); p.last.Status != event.Completed {
		t.Errorf("two ran at once: %+v", p.last.Error)
	}
}

const branches = `{"nodes":[
	{"id":"bad","type":"shell","params":{"command":"exit 3"}},
	{"id":"after","type":"shell","params":{"command":"echo after"}},
	{"id":"other","type":"shell","params":{"command":"echo other"}},
	{"id":"last","type":"shell","params":{"command":"echo last"}}],
	"edges":[{"from":"bad","to":"after"},{"from":"other","to":"last"}]}`

func TestAfterAFailureNothingStarts(t *testing.T) {
	p := newBench(t).play(t.Context(), branches, func(c *engine.Config) { c.Jobs = 1 })
	if p.last.Status != event.Failed || p.last.Error.Node != "bad" || p.nodes(event.NodeCancelled) != "after last other" {
		t.Errorf("%s %+v, cancelled %q", p.last.Status, p.last.Error, p.nodes(event.NodeCancelled))
	}
}

func TestKeepGoingRunsWhatDoesNotDependOnIt(t *testing.T) {
	p := newBench(t).play(t.Context(), branches, func(c *engine.Config) { c.KeepGoing = true })
	if p.last.Status != event.Failed || p.last.Error.Node != "bad" || p.nodes(event.NodeCompleted) != "last other" || p.nodes(event.NodeCancelled) != "after" {
		t.Errorf("%s, completed %q", p.last.Status, p.nodes(event.NodeCompleted))
	}
}

// chain appends to a file in each node, so that what ran can be counted.
func chain(second string) string {
	return `{"nodes":[` + shellNode("a", "echo a >> ran; echo one") + `,` + shellNode("b", "echo b >> ran; echo ${a.stdout} "+second) + `,` +
		shellNode("c", "echo c >> ran; echo ${b.stdout} three") + `],"outputs":{"all":{"source":"${c.stdout}"}}}`
}

func TestResumeReusesWhatIsUnchanged(t *testing.T) {
	b := newBench(t)
	first := b.play(t.Context(), chain("two; false"), nil)
	if first.last.Status != event.Failed {
		t.Fatal(first.last.Status)
	}
	second := b.play(t.Context(), chain("two"), first.whole(b))
	if second.nodes(event.NodeReused) != "a" || second.nodes(event.NodeCompleted) != "b c" || string(second.last.Outputs) != `{"all":"one two three"}` {
		t.Errorf("reused %q, ran %q, outputs %s", second.nodes(event.NodeReused), second.nodes(event.NodeCompleted), second.last.Outputs)
	}
	third := b.play(t.Context(), chain("zwei"), second.whole(b))
	if third.nodes(event.NodeReused) != "a" || string(third.last.Outputs) != `{"all":"one zwei three"}` {
		t.Errorf("reused %q, outputs %s", third.nodes(event.NodeReused), third.last.Outputs)
	}
	for _, e := range third.events {
		if e.Event == event.NodeReused && e.FromRun != first.id {
			t.Errorf("reused from %s, ran in %s", e.FromRun, first.id)
		}
	}
	fourth := b.play(t.Context(), chain("zwei"), third.whole(b))
	if *fourth.last.NodesExecuted != 0 || *fourth.last.NodesReused != 3 {
		t.Errorf("%d executed, %d reused", *fourth.last.NodesExecuted, *fourth.last.NodesReused)
	}
	if got := b.file("ran"); got != "a\nb\nb\nc\nb\nc\n" {
		t.Errorf("ran %q", got)
	}
}

// A node whose result happens to be the same runs again all the same when what it depends on was run again.
func TestWhatDependsOnAChangeRunsAgain(t *testing.T) {
	b := newBench(t)
	first := b.play(t.Context(), chain("two"), nil)
	second := b.play(t.Context(), chain("two #"), first.whole(b))
	if second.nodes(event.NodeReused) != "a" || second.nodes(event.NodeCompleted) != "b c" {
		t.Errorf("reused %q, ran %q", second.nodes(event.NodeReused), second.nodes(event.NodeCompleted))
	}
}

func TestAnErrorEdgeIsACheckpointToo(t *testing.T) {
	b := newBench(t)
	def := func(end string) string {
		return `{"nodes":[` + shellNode("a", "echo a >> ran; echo no >&2; exit 4") + `,` + shellNode("h", "echo ${a.exit_code} ${a.stderr}"+end) + `,` + shellNode("never", "echo never >> ran") + `],
			"edges":[{"from":"a","to":"h","action":"error"},{"from":"a","to":"never"}]}`
	}
	first := b.play(t.Context(), def(""), nil)
	if first.last.Status != event.Degraded || !strings.Contains(string(first.last.Outputs), `"stdout":"4 no"`) || first.nodes(event.NodeSkipped) != "never" {
		t.Errorf("%s %s", first.last.Status, first.last.Outputs)
	}
	second := b.play(t.Context(), def(" again"), first.whole(b))
	if second.last.Status != event.Degraded || second.nodes(event.NodeReused) != "a" || !strings.Contains(string(second.last.Outputs), `"stdout":"4 no again"`) || b.file("ran") != "a\n" {
		t.Errorf("%s %s, ran %q", second.last.Status, second.last.Outputs, b.file("ran"))
	}
}

func TestLongOutputsLiveInBlobs(t *testing.T) {
	b := newBench(t)
	def := func(end string) string {
		return `{"nodes":[` + shellNode("big", "echo ran >> ran; head -c 300000 /dev/zero | tr '\\0' x") + `,{"id":"count","type":"shell","params":{"command":"wc -c` + end + `","stdin":"${big.stdout}"}}],"outputs":{"n":{"source":"${count.stdout}"}}}`
	}
	first := b.play(t.Context(), def(""), nil)
	for _, line := range first.lines {
		if len(line) > event.InlineLimit {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	second := b.play(t.Context(), def(" "), first.whole(b))
	if strings.TrimSpace(string(second.last.Outputs)) != `{"n":"300000"}` || second.nodes(event.NodeReused) != "big" {
		t.Errorf("%s, reused %q", second.last.Outputs, second.nodes(event.NodeReused))
	}
	blobs, err := filepath.Glob(b.home.Path("runs", second.id, "blobs", "*"))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("blobs of the resumed run: %v", blobs)
	}
	if err := os.Remove(blobs[0]); err != nil {
		t.Fatal(err)
	}
	third := b.play(t.Context(), def(""), second.whole(b))
	if third.last.Status != event.Completed || third.nodes(event.NodeReused) != "" || b.file("ran") != "ran\nran\n" {
		t.Errorf("a missing blob: %s, reused %q, ran %q", third.last.Status, third.nodes(event.NodeReused), b.file("ran"))
	}
}

func TestASecretInAnOutputIsWholeInTheRunAndFetchedAgainAfterwards(t *testing.T) {
	b := newBench(t)
	def := func(end string) string {
		return `{"inputs":{"key":{"type":"string","secret":true}},"nodes":[` +
			shellNode("login", `echo login >> ran; echo "session ${key}"`) + `,` + shellNode("plain", "echo plain >> ran; echo ${login.exit_code}") + `,` +
			shellNode("use", `test "${login.stdout}" = "session correct-horse" && echo used`+end) + `]}`
	}
	secret := func(c *engine.Config) {
		c.Inputs["key"] = json.RawMessage(`"correct-horse"`)
		c.Redactor.Add("key", "correct-horse")
	}
	first := b.play(t.Context(), def("; false"), secret)
	if bytes.Contains(bytes.Join(first.lines, nil), []byte("correct-horse")) {
		t.Error("the secret is in the journal")
	}
	second := b.play(t.Context(), def(""), func(c *engine.Config) { secret(c); first.whole(b)(c) })
	if second.last.Status != event.Completed || second.nodes(event.NodeReused) != "login plain" || second.nodes(event.NodeCompleted) != "login use" {
		t.Errorf("%s: reused %q, ran %q, %v", second.last.Status, second.nodes(event.NodeReused), second.nodes(event.NodeCompleted), second.last.Error)
	}
	if b.file("ran") != "login\nplain\nlogin\n" {
		t.Errorf("ran %q", b.file("ran"))
	}
	third := b.play(t.Context(), def(""), func(c *engine.Config) { secret(c); second.whole(b)(c) })
	if *third.last.NodesExecuted != 0 {
		t.Errorf("%d nodes ran again, and none reads the secret", *third.last.NodesExecuted)
	}
}

func TestAnOutputThatLeadsNowhereFailsTheRun(t *testing.T) {
	p := newBench(t).play(t.Context(), `{"nodes":[`+shellNode("a", `echo '{"x":1}'`)+`],"outputs":{"y":{"source":"${a.stdout.y}"}}}`, nil)
	if p.last.Status != event.Failed || p.last.Error.Type != fault.Template || !strings.Contains(p.last.Error.Message, `Output "y": template ${a.stdout.y} not resolved`) {
		t.Errorf("%s %+v", p.last.Status, p.last.Error)
	}
}

func TestPermissiveTemplatesStandAndDegrade(t *testing.T) {
	p := newBench(t).play(t.Context(), `{"template_resolution_mode":"permissive","nodes":[`+shellNode("a", `echo '{"x":1}'`)+`,{"id":"e","type":"echo","params":{"message":"v=${a.stdout.y}"}}]}`, nil)
	if p.last.Status != event.Degraded || !strings.Contains(string(p.last.Outputs), `"echo":"v=${a.stdout.y}"`) || len(p.last.Warnings) != 1 {
		t.Errorf("%s %s %v", p.last.Status, p.last.Outputs, p.last.Warnings)
	}
}

func TestCancelAndTimeout(t *testing.T) {
	slow := `{"nodes":[` + shellNode("a", "echo a") + `,` + shellNode("slow", "echo ${a.stdout}; sleep 100") + `,` + shellNode("z", "echo ${slow.stdout}") + `]}`
	b := newBench(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { // once slow runs
		for {
			all, err := run.List(b.home)
			if err == nil && len(all) > 0 {
				if _, last, err := all[0].Ends(); err == nil && last != nil && last.Node == "slow" {
					cancel(errors.New("enough"))
					return
				}
			}
			select {
			case <-t.Context().Done():
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	p := b.play(ctx, slow, nil)
	if p.last.Status != event.Cancelled || !strings.Contains(p.last.Error.Message, "enough") || p.nodes(event.NodeCancelled) != "slow z" || strings.Join(p.last.Checkpoint.CompletedNodes, " ") != "a" {
		t.Errorf("%+v %+v, cancelled %q", p.last, p.last.Error, p.nodes(event.NodeCancelled))
	}
	p = b.play(t.Context(), slow, func(c *engine.Config) { c.Timeout = 300 * time.Millisecond })
	if p.last.Status != event.TimedOut || p.last.Error.Type != fault.Timeout {
		t.Errorf("%+v", p.last)
	}
}

// full is a record that cannot be written any more from some event on.
type full struct {
	engine.Record
	left int
}

func (f *full) Append(e *event.Event) error {
	if f.left--; f.left < 0 {
		return fault.New(fault.Internal, "no space left on device")
	}
	return f.Record.Append(e)
}

func TestARecordThatCannotBeKeptEndsTheRun(t *testing.T) {
	b := newBench(t)
	for left := range 6 {
		rec, err := run.Create(b.home, run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		file, err := workflow.Parse("w", []byte(chain("two")))
		if err != nil {
			t.Fatal(err)
		}
		kind, _ := nodetype.Builtin("shell")
		_, err = engine.Run(t.Context(), engine.Config{
			RunID: rec.ID, Record: &full{rec, left}, Workflow: file.Workflow, Kinds: map[string]nodetype.Type{"shell": kind}, Jobs: 2, Redactor: redact.New(),
			Log: slog.New(slog.DiscardHandler), Host: node.Host{Dir: b.dir},
		})
		rec.Close()
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("with room for %d events: %v", left, err)
		}
	}
}

// Any prefix of a journal is a checkpoint: whatever the graph and wherever it was cut, going on ends with the same
// outputs, and no node that had its last word runs again.
func TestAnyPrefixResumes(t *testing.T) {
	b := newBench(t)
	rapid.Check(t, func(t *rapid.T) {
		b.t = t
		n := rapid.IntRange(1, 7).Draw(t, "nodes")
		var nodes []string
		for i := range n {
			data := []string{fmt.Sprintf(`"n%d"`, i)}
			for j := range i {
				if rapid.IntRange(0, 3).Draw(t, "reads") == 0 {
					data = append(data, fmt.Sprintf(`"${n%d.data}"`, j))
				}
			}
			nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"echo","params":{"data":[%s]}}`, i, strings.Join(data, ",")))
		}
		def := `{"nodes":[` + strings.Join(nodes, ",") + `]}`
		jobs := rapid.IntRange(1, 4).Draw(t, "jobs")
		first := b.play(context.Background(), def, func(c *engine.Config) { c.Jobs = jobs })
		cut := rapid.IntRange(1, len(first.lines)).Draw(t, "cut")
		second := b.play(context.Background(), def, first.from(b, cut))
		if !bytes.Equal(first.last.Outputs, second.last.Outputs) {
			t.Fatalf("outputs\n%s\n%s", first.last.Outputs, second.last.Outputs)
		}
		done := 0
		for _, e := range first.events[:cut] {
			if e.Event == event.NodeCompleted {
				done++
			}
		}
		if *second.last.NodesReused != done || *second.last.NodesExecuted != n-done {
			t.Fatalf("%d of %d had completed, %d reused, %d executed", done, n, *second.last.NodesReused, *second.last.NodesExecuted)
		}
	})
}

func TestReadCheckpointRefusesWhatIsNone(t *testing.T) {
	for name, stream := range map[string]string{
		"empty": "", "no beginning": `{"v":1,"seq":2,"event":"node_completed","run":"r","time":"2026-01-01T00:00:00Z","node":"a"}` + "\n",
		"two runs": strings.Repeat(`{"v":1,"seq":1,"event":"run_started","run":"r","time":"2026-01-01T00:00:00Z"}`+"\n", 2),
	} {
		if _, err := engine.ReadCheckpoint(strings.NewReader(stream), nil); fault.From(err).Type != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
