package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestIndependentNodesRunAtTheSameTime(t *testing.T) {
	b := newBench(t)
	// Each waits for the other: in sequence they would never end.
	meet := `mkfifo %[1]s 2>/dev/null; mkfifo %[2]s 2>/dev/null; echo x > %[1]s & read y < %[2]s; wait`
	p := b.play(t.Context(), `{"nodes":[`+shellNode("a", fmt.Sprintf(meet, "f1", "f2"))+`,`+shellNode("b", fmt.Sprintf(meet, "f2", "f1"))+`]}`)
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

func TestAnOutputThatLeadsNowhereFailsTheRun(t *testing.T) {
	p := newBench(t).play(t.Context(), `{"nodes":[`+shellNode("a", `echo '{"x":1}'`)+`],"outputs":{"y":{"source":"${a.stdout.y}"}}}`)
	if p.last.Status != event.Failed || p.last.Error.Type != fault.Template || !strings.Contains(p.last.Error.Message, `Output "y": template ${a.stdout.y} not resolved`) {
		t.Errorf("%s %+v", p.last.Status, p.last.Error)
	}
}

func TestPermissiveTemplatesStandAndDegrade(t *testing.T) {
	p := newBench(t).play(t.Context(), `{"template_resolution_mode":"permissive","nodes":[`+shellNode("a", `echo '{"x":1}'`)+`,{"id":"e","type":"echo","params":{"message":"v=${a.stdout.y}"}}]}`)
	if p.last.Status != event.Degraded || !strings.Contains(string(p.last.Outputs), `"echo":"v=${a.stdout.y}"`) || len(p.last.Warnings) != 1 {
		t.Errorf("%s %s %v", p.last.Status, p.last.Outputs, p.last.Warnings)
	}
}

// A run lists a limited number of warnings, so that its last line is not too long, and counts the others.
func TestMoreWarningsThanAnybodyReads(t *testing.T) {
	var items []string
	for i := range 200 {
		items = append(items, fmt.Sprintf(`{"k%d":"%s"}`, i, strings.Repeat("x", 100)))
	}
	p := newBench(t).play(t.Context(), `{"template_resolution_mode":"permissive","nodes":[{"id":"n","type":"echo","params":{"message":"${item.gone}"},"batch":{"items":[`+strings.Join(items, ",")+`]}}]}`)
	p.ended(t, event.Degraded)
	if n := len(p.last.Warnings); n != 51 || !strings.Contains(p.last.Warnings[50], " 150 ") {
		t.Errorf("%d warnings, the last %q", n, p.last.Warnings[n-1])
	}
}

// full is a journal that cannot be written from some event, or from some blob, on.
type full struct {
	engine.Journal
	events, blobs int

	mu sync.Mutex
}

var errFull = fault.New(fault.Internal, "no space left on device")

func (f *full) Append(e *event.Event) error {
	f.mu.Lock()
	f.events--
	over := f.events < 0
	f.mu.Unlock()
	if over {
		return errFull
	}
	return f.Journal.Append(e)
}

func (f *full) PutBlob(content []byte) (string, error) {
	if f.noBlob() {
		return "", errFull
	}
	return f.Journal.PutBlob(content)
}

func (f *full) NewBlob() (event.Blob, error) {
	if f.noBlob() {
		return nil, errFull
	}
	return f.Journal.NewBlob()
}

func (f *full) noBlob() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blobs--
	return f.blobs < 0
}

func TestARecordThatCannotBeKeptEndsTheRun(t *testing.T) {
	b := newBench(t)
	def := `{"nodes":[{"id":"a","type":"echo","params":{"data":%[1]s}},{"id":"b","type":"echo","params":{"data":"${item}","message":"${a.echo}"},"batch":{"items":[1,%[1]s]}},
		{"id":"c","type":"workflow","params":{"workflow":{"nodes":[{"id":"n","type":"echo","params":{"data":%[1]s}},{"id":"m","type":"echo","params":{"data":"${n.echo}"},"approval":true}]}}},
		{"id":"d","type":"echo","params":{"data":"${c.m.data}","message":"${d.echo ?? 1}"},"loop":{"while":"${d.data}","max_iterations":2}}],"outputs":{"again":{"source":"${a.data}"}}}`
	yes := asked(func(engine.Question) string { return "yes" })
	// ends runs with a journal of limited room, and reports whether the run came to its end.
	ends := func(long string, room *full) bool {
		_, last, err := b.try(t.Context(), fmt.Sprintf(def, long), yes, func(c *engine.Config) {
			room.Journal = c.Journal
			c.Journal = room
		})
		if (err == nil) != (last != nil) || err != nil && !errors.Is(err, errFull) {
			t.Fatalf("with room for %d more events and %d more blobs the run returned a last event: %t, and the error %v, want the event or %q", room.events, room.blobs, last != nil, err, errFull.Message)
		}
		return err == nil
	}
	events, blobs := 0, 0
	for !ends(`"short"`, &full{events: events, blobs: 99}) {
		events++
	}
	for !ends(`["`+strings.Repeat("x", 70000)+`"]`, &full{events: 99, blobs: blobs}) {
		blobs++
	}
	if events < 20 || blobs < 3 {
		t.Errorf("a run of %d events and %d blobs", events, blobs)
	}
}
