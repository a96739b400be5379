package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/node"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/redact"
	"github.com/pflow-suite/pflow/pkg/run"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

func TestIndependentNodesRunAtTheSameTime(t *testing.T) {
	b := newBench(t)
	// Each waits for the other: one after the other they would never end.
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
	p := b.play(ctx, slow)
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
			RunID: rec.ID, Record: &full{rec, left}, Sub: engine.Sub{Workflow: file.Workflow, Kinds: map[string]nodetype.Type{"shell": kind}}, Jobs: 2, Redactor: redact.New(),
			Log: slog.New(slog.DiscardHandler), Host: node.Host{Dir: b.dir},
		})
		rec.Close()
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("with room for %d events: %v", left, err)
		}
	}
}
