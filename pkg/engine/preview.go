package engine

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// Preview is what a run would do that was not begun.
type Preview struct {
	// Order is the workflow's own nodes, each behind those that it waits for; After are those that a node waits for.
	Order []string
	After map[string][]string
	// Would is what would be done about each.
	Would map[string]Intent
}

// Intent is what a run would do about a node.
type Intent string

// The intents. What a node that runs puts out decides about those behind it: some that would run, or be asked about, may
// be skipped.
const (
	WouldRun   Intent = "run"
	WouldReuse Intent = "reuse" // what the checkpoint has
	WouldAsk   Intent = "ask"   // a person, before it runs
	WouldSkip  Intent = "skip"  // since what is reused decided so
	WouldDeny  Intent = "deny"  // the answer given beforehand forbids it, and ends the run
)

// DryRun says what a run of the config would do. Nothing is executed, asked or kept.
func DryRun(ctx context.Context, c Config) (*Preview, error) {
	top, err := newFrame(&c.Sub, c.Inputs)
	if err != nil {
		return nil, err
	}
	p := &Preview{Order: top.plan.Order(), After: map[string][]string{}, Would: map[string]Intent{}}
	for _, id := range p.Order {
		p.After[id], p.Would[id] = top.plan.Waits(id), WouldRun
		n, _ := c.Workflow.Node(id)
		if n.Approval != nil {
			p.Would[id] = WouldAsk
		}
	}
	if c.From == nil {
		return p, nil
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.Journal, c.Cache, c.Ask, c.Adopt = &dryJournal{from: c.From, would: p.Would, blobs: map[string][]byte{}}, nil, nil, nil
	top.inherits, top.ctx = true, ctx
	e := &execution{
		Config: c, top: top, ctx: ctx, stop: stop, began: time.Now(), warned: map[string]bool{}, questions: map[*nodeRun]*frame{}, digests: map[*Sub]string{},
	}
	e.adopt(top)
	for _, id := range p.Order {
		if p.Would[id] == WouldAsk && e.answers(top, id) {
			p.Would[id] = WouldRun
			if plan.Denies(c.Answer) {
				p.Would[id] = WouldDeny
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, id := range p.Order {
			if p.Would[id] == WouldReuse || p.Would[id] == WouldSkip {
				continue
			}
			n, _ := c.Workflow.Node(id)
			for _, from := range e.stale(top, &nodeRun{node: n}) {
				changed = changed || p.Would[from] == WouldReuse
				p.Would[from] = WouldRun // for the secret in what it put out
			}
		}
	}
	return p, nil
}

// answers says whether the answer given beforehand is one to the node's question, as far as that can be told by now.
func (e *execution) answers(l *frame, id string) bool {
	q, err := e.question(l, e.newNodeRun(l, id))
	return err == nil && e.answerFor(q) != ""
}

// dryJournal is a record that keeps nothing but what it means for the workflow's own nodes.
type dryJournal struct {
	from  *Checkpoint
	would map[string]Intent
	// blobs are the long values of a stream that stood alone.
	blobs map[string][]byte
}

// Append notes what an event says of what would be done.
func (u *dryJournal) Append(e *event.Event) error {
	if strings.Contains(e.Node, "/") {
		return nil
	}
	switch e.Event {
	case event.NodeReused:
		u.would[e.Node] = WouldReuse
	case event.NodeSkipped:
		u.would[e.Node] = WouldSkip
	case event.ApprovalResolved:
		u.would[e.Node] = WouldRun
	}
	return nil
}

// Line gives an event without outputs: what a batch would put out nobody reads.
func (u *dryJournal) Line(int64) ([]byte, error) { return []byte("{}\n"), nil }

// PutBlob holds a long value, NewBlob takes one that nobody reads, Blob fetches one that is held or of the checkpoint.
func (u *dryJournal) PutBlob(content []byte) (string, error) {
	ref := event.Digest(content)
	u.blobs[ref] = content
	return ref, nil
}

// NewBlob is for package event.
func (u *dryJournal) NewBlob() (event.Blob, error) { return discard{io.Discard}, nil }

// Blob is for package event.
func (u *dryJournal) Blob(ref string) ([]byte, error) {
	if content, ok := u.blobs[ref]; ok {
		return content, nil
	}
	return u.from.Blob(ref)
}

// Log is where nobody says anything.
func (u *dryJournal) Log(string, string) io.WriteCloser { return discard{io.Discard} }

type discard struct{ io.Writer }

func (discard) Keep() (string, error) { return event.Digest(nil), nil }
func (discard) Discard()              {}
func (discard) Close() error          { return nil }
