package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// Preview is what a run would do with the workflow's own nodes, or with the only node that it would execute.
type Preview struct {
	// Order lists the nodes, each after those that it waits for.
	Order []string
	// Nodes has the nodes, Kinds their types.
	Nodes map[string]*workflow.Node
	Kinds map[string]nodetype.Type
	// After lists the nodes that each node waits for.
	After map[string][]string
	// Would is what the run would do with each node.
	Would map[string]Intent
	// Because is the reason why a node would run, if the run resumes another: see resume.Decide. Why says more of some.
	Because, Why map[string]string
	// Answers has the answers that the run would take from the memory, by the paths of the nodes that asked.
	Answers map[string]string
}

// Intent is what a run would do with a node.
type Intent string

// The intents. The outputs of a node that runs decide about the nodes after it: some that would run or ask may be skipped.
const (
	WouldRun   Intent = "run"
	WouldReuse Intent = "reuse" // the memory has it
	WouldAsk   Intent = "ask"   // a person, before it runs
	WouldSkip  Intent = "skip"  // because of the outputs of reused nodes
	WouldDeny  Intent = "deny"  // the answer given beforehand denies it, which ends the run
)

// DryRun returns what a run of the config would do. It executes, asks and stores nothing.
func DryRun(ctx context.Context, c Config) (*Preview, error) {
	top, err := newFrame(&c.Flow, c.Inputs)
	if err != nil {
		return nil, err
	}
	p := &Preview{Nodes: map[string]*workflow.Node{}, Kinds: map[string]nodetype.Type{}, After: map[string][]string{}, Would: map[string]Intent{}, Because: map[string]string{}, Why: map[string]string{}, Answers: map[string]string{}}
	for _, id := range top.plan.Order() {
		n, _ := c.Workflow.Node(id)
		p.add(id, n, c.Kinds[n.Type], top.plan.Waits(id))
		if n.Approval != nil {
			p.answer(id, c.Answers[id].Text)
		}
	}
	if c.Memory == nil {
		return p, nil
	}
	e, end := dryExecution(ctx, c, top, p)
	defer end()
	if e.alone() {
		fr, err := e.enterAlone(top)
		if err != nil {
			return nil, err
		}
		p.Order = nil
		segments, _ := event.Segments(c.Only)
		n, _ := fr.Workflow.Node(segments[len(segments)-1].ID)
		if p.add(c.Only, n, fr.Kinds[n.Type], nil); n.Approval != nil {
			p.answer(c.Only, c.Answers[c.Only].Text)
		}
		return p, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.enter(top)
	e.foresee(p)
	return p, nil
}

// DeniedAtOnce reports whether the answers of a config end the run that resumes another before any node starts, also inside
// other nodes. It executes, asks and stores nothing.
func DeniedAtOnce(ctx context.Context, c Config) (bool, error) {
	top, err := newFrame(&c.Flow, c.Inputs)
	if err != nil {
		return false, err
	}
	e, end := dryExecution(ctx, c, top, &Preview{Would: map[string]Intent{}, Answers: map[string]string{}})
	defer end()
	if e.alone() {
		if top, err = e.enterAlone(top); err != nil {
			return false, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.enter(top)
	return len(e.advance()) == 0 && e.denied != nil, nil
}

// dryExecution returns an execution that stores nothing and asks no person. Its events are noted in a preview. The function ends what it has
// begun.
func dryExecution(ctx context.Context, c Config, top *frame, p *Preview) (*execution, func()) {
	ctx, stop := context.WithCancelCause(ctx)
	c.Journal, c.Cache, c.Ask, c.Adopt = &dryJournal{from: c.Memory, would: p.Would, answers: p.Answers, blobs: map[string][]byte{}}, dryCache{}, nil, nil
	return newExecution(ctx, stop, c, top), func() { stop(nil) }
}

// answer notes what an answer given beforehand means for a node, if there is one.
func (p *Preview) answer(id, answer string) {
	switch {
	case answer == "":
	case plan.Denies(answer):
		p.Would[id] = WouldDeny
	default:
		p.Would[id] = WouldRun
	}
}

// add adds a node that would run, unless a person forbids it.
func (p *Preview) add(path string, n *workflow.Node, kind nodetype.Type, after []string) {
	p.Order = append(p.Order, path)
	p.Nodes[path], p.Kinds[path], p.After[path], p.Would[path] = n, kind, after, WouldRun
	if n.Approval != nil {
		p.Would[path] = WouldAsk
	}
}

// foresee corrects a preview by the answer given beforehand, and by the secrets that nodes read.
func (e *execution) foresee(p *Preview) {
	for _, id := range p.Order {
		if p.Would[id] != WouldAsk {
			continue
		}
		nr := e.newNodeRun(e.top, id)
		q, err := e.asker.question(nr)
		if err != nil {
			continue
		}
		if e.Memory.IsOpen(q.Node) && slices.ContainsFunc(p.After[id], func(before string) bool { return p.Would[before] == WouldRun }) {
			continue // it will ask anew
		}
		answer := e.asker.answerFor(nr, q).Text
		p.answer(id, answer)
	}
	for changed := true; changed; {
		changed = false
		for _, id := range p.Order {
			if !p.runs(id) {
				continue
			}
			n, _ := e.top.Workflow.Node(id)
			for _, from := range e.stale(&nodeRun{frame: e.top, node: n}) {
				if p.Would[from] == WouldReuse {
					p.Would[from], p.Why[from], changed = WouldRun, forSecret(from, id), true
				}
			}
		}
	}
	for _, id := range p.Order {
		if p.runs(id) && p.Why[id] == "" {
			e.explain(p, id)
		}
	}
}

// runs reports whether a node would run or ask.
func (p *Preview) runs(id string) bool { return p.Would[id] != WouldReuse && p.Would[id] != WouldSkip }

// explain says why a node would run. Of one that is not ready yet, the parameters are not known.
func (e *execution) explain(p *Preview, id string) {
	nr := e.top.parked[id]
	if nr == nil {
		nr = e.top.running[id]
	}
	if nr == nil {
		nr = e.newNodeRun(e.top, id)
		if i := slices.IndexFunc(p.After[id], p.runs); i >= 0 {
			nr.after = p.After[id][i]
		}
		unknown := func() string { return "" }
		_, _, nr.because = e.Memory.Decide(resume.Step{Node: id, Place: id, Digest: unknown, Old: unknown}, nr.after)
	}
	switch p.Because[id] = nr.because; {
	case nr.after == "" || nr.because != resume.After(nr.after) && nr.because != event.Changed:
	case nr.isOfValues() || nr.node.Cache != nil:
		p.Why[id] = fmt.Sprintf("node %s is kept if %s puts out what it did before", id, nr.after)
	case nr.node.Batch != nil && e.top.listsFrom(nr) == nr.after:
		p.Why[id] = fmt.Sprintf("node %s: items with the parameters that they had run again only because %s does; with \"cache\": true they are kept", id, nr.after)
	}
}

// dryJournal is a journal that notes what its events mean for the workflow's own nodes, and the answers. It stores nothing.
type dryJournal struct {
	from  *resume.Memory
	would map[string]Intent
	// answers has the answers in the events, by the paths of their nodes.
	answers map[string]string
	// blobs are the long values of a stream without blobs.
	blobs map[string][]byte
}

// Append notes what an event says would be done.
func (j *dryJournal) Append(e *event.Event) error {
	if e.Event == event.ApprovalResolved {
		j.answers[e.Node] = e.Answer
	}
	if strings.Contains(e.Node, "/") {
		return nil
	}
	switch e.Event {
	case event.NodeReused:
		j.would[e.Node] = WouldReuse
	case event.NodeSkipped:
		j.would[e.Node] = WouldSkip
	case event.ApprovalResolved:
		j.would[e.Node] = WouldRun
	}
	return nil
}

// Line returns an event without outputs: the outputs of a batch are not used.
func (j *dryJournal) Line(int64) ([]byte, error) { return []byte("{}\n"), nil }

// PutBlob holds a long value in memory.
func (j *dryJournal) PutBlob(content []byte) (string, error) {
	ref := event.Digest(content)
	j.blobs[ref] = content
	return ref, nil
}

// NewBlob returns a blob whose content is discarded.
func (j *dryJournal) NewBlob() (event.Blob, error) { return discard{io.Discard}, nil }

// NewScratch returns a scratch whose content is discarded.
func (j *dryJournal) NewScratch() (event.Scratch, error) { return discard{io.Discard}, nil }

// Blob returns a long value that is held here, or one of the run that is resumed.
func (j *dryJournal) Blob(ref string) ([]byte, error) {
	if content, ok := j.blobs[ref]; ok {
		return content, nil
	}
	return j.from.Blob(ref)
}

// OpenBlob returns a reader of a long value in memory.
func (j *dryJournal) OpenBlob(ref string, _ int) (io.ReadCloser, error) {
	content, err := j.Blob(ref)
	return io.NopCloser(bytes.NewReader(content)), err
}

// Log returns a log whose content is discarded.
func (j *dryJournal) Log(string, string) io.WriteCloser { return discard{io.Discard} }

// dryCache is a cache that has nothing.
type dryCache struct{}

func (dryCache) Get(string, time.Duration) (none json.RawMessage, run string, at time.Time, ok bool) {
	return nil, "", time.Time{}, false
}
func (dryCache) Put(string, string, json.RawMessage) error { return nil }

type discard struct{ io.Writer }

func (discard) Keep() (string, error)             { return event.Digest(nil), nil }
func (discard) Discard()                          {}
func (discard) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }
func (discard) Content(int) ([]byte, error)       { return nil, nil }
func (discard) Open(int) (io.ReadCloser, error)   { return io.NopCloser(bytes.NewReader(nil)), nil }
func (discard) Close() error                      { return nil }
