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

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/check"
)

// builtin are the node types of these tests.
type builtin struct{}

func (builtin) Type(name string) (nodetype.Type, bool, error) {
	t, ok := nodetype.Builtin(name)
	return t, ok, nil
}
func (builtin) Types() ([]nodetype.Type, error) { return nil, nil }

// bench is a home and a folder to run workflows in.
type bench struct {
	t    tester
	home *home.Home
	dir  string
	// saved has the workflows that nodes can run, by name.
	saved map[string]string
}

// tester has the methods that *testing.T and *rapid.T share.
type tester interface {
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func newBench(t *testing.T) *bench {
	h, err := home.Open(filepath.Join(t.TempDir(), "home"), "")
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, home: h, dir: t.TempDir(), saved: map[string]string{}}
}

// played is a run that has ended.
type played struct {
	id     string
	last   *event.Event
	events []*event.Event
	lines  [][]byte
	rec    *journal.Reader
}

// play runs a workflow to its end. Each of adjust may change the config.
func (b *bench) play(ctx context.Context, definition string, adjust ...func(*engine.Config)) *played {
	id, last, err := b.try(ctx, definition, adjust...)
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	return b.read(id, last)
}

// try runs a workflow. It returns the run's id and the results of engine.Run.
func (b *bench) try(ctx context.Context, definition string, adjust ...func(*engine.Config)) (id string, last *event.Event, err error) {
	rec, err := journal.Create(b.home, journal.Options{Definition: []byte(definition)})
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	defer rec.Close()
	file, err := workflow.Parse("w.json", []byte(definition))
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	c := engine.Config{
		RunID: rec.ID, Journal: rec, Flow: b.checked(file), Load: b.load, Jobs: 4, Redactor: redact.New(), Log: slog.New(slog.DiscardHandler),
		Started: event.Workflow{Name: "w", Definition: file.Source}, Inputs: map[string]json.RawMessage{},
		Host: node.Host{Dir: b.dir, Env: []string{"PATH=/usr/bin:/bin"}, Servers: mcpclient.NewPool(func(string) (mcpclient.Spec, error) { return mcpclient.Spec{}, errors.New("no servers here") })},
	}
	for _, a := range adjust {
		a(&c)
	}
	last, err = engine.Run(ctx, c)
	return rec.ID, last, err
}

// checked returns a workflow as the engine runs it.
func (b *bench) checked(file *workflow.File) flow.Flow {
	report := check.Workflow(file, builtin{}, b.find)
	if f := report.Fault(file.Name); f != nil {
		b.t.Fatalf("%v", f)
	}
	return subOf(report)
}

// find returns a saved workflow.
func (b *bench) find(_ *workflow.File, name string) (*workflow.File, error) {
	definition, ok := b.saved[name]
	if !ok {
		return nil, fault.New(fault.NotFound, "there is no workflow %q", name)
	}
	return workflow.Parse(name, []byte(definition))
}

// load returns a saved workflow that a run names by a template.
func (b *bench) load(_ *flow.Flow, name string) (*flow.Flow, error) {
	file, err := b.find(nil, name)
	if err != nil {
		return nil, err
	}
	report := check.Workflow(file, builtin{}, b.find)
	if f := report.Fault(name); f != nil {
		return nil, f
	}
	sub := subOf(report)
	return &sub, nil
}

// subOf returns a checked workflow as the engine runs it.
func subOf(r *check.Report) flow.Flow {
	s := flow.Flow{Name: r.File.Name, Workflow: r.File.Workflow, File: r.File, Kinds: r.Kinds, Digest: event.Digest(r.File.Source), Subs: map[string]*flow.Flow{}}
	for id, sub := range r.Subs {
		inner := subOf(sub)
		s.Subs[id] = &inner
	}
	return s
}

func (b *bench) read(id string, last *event.Event) *played {
	rec, err := journal.Find(b.home, id)
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

// from returns a config change that resumes from the first n events of a run.
func (p *played) from(b *bench, n int) func(*engine.Config) {
	checkpoint, err := resume.Read(bytes.NewReader(bytes.Join(p.lines[:n], nil)), p.rec.Blob)
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	checkpoint.Earlier = b.checkpoint
	return func(c *engine.Config) { c.Memory = checkpoint }
}

func (p *played) whole(b *bench) func(*engine.Config) { return p.from(b, len(p.lines)) }

// nodes returns the ids of the nodes with an event of a kind, sorted.
func (p *played) nodes(kind event.Kind) string {
	var ids []string
	for _, e := range p.of(kind) {
		ids = append(ids, e.Node)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// of returns the events of a kind, in order.
func (p *played) of(kind event.Kind) (events []*event.Event) {
	for _, e := range p.events {
		if e.Event == kind {
			events = append(events, e)
		}
	}
	return events
}

// get returns a part of the run's outputs, as JSON.
func (p *played) get(path string) string {
	plain, err := event.Plain(p.last.Outputs, p.rec.Blob)
	if err != nil {
		return err.Error()
	}
	return gjson.GetBytes(plain, path).Raw
}

// ended checks how a run ended.
func (p *played) ended(t *testing.T, want event.Status) {
	t.Helper()
	if p.last.Status != want {
		t.Errorf("ended %s, want %s: %+v", p.last.Status, want, p.last.Error)
	}
}

// failed checks that a run failed with a type, and with words in the message.
func (p *played) failed(t *testing.T, kind fault.Type, words ...string) {
	t.Helper()
	p.ended(t, event.Failed)
	if p.last.Error == nil {
		return
	}
	if p.last.Error.Type != kind {
		t.Errorf("type %s, want %s: %s", p.last.Error.Type, kind, p.last.Error)
	}
	for _, w := range words {
		if !strings.Contains(p.last.Error.Error(), w) {
			t.Errorf("%q is not in %q", w, p.last.Error)
		}
	}
}

func (b *bench) file(name string) string {
	content, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return ""
	}
	return string(content)
}

// shellNode returns a node that runs a command.
func shellNode(id, command string) string {
	return fmt.Sprintf(`{"id":%q,"type":"shell","params":{"command":%s}}`, id, rawjson.Quote(command))
}
