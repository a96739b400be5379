package engine

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
)

// Preview is what a run would do that was not begun.
type Preview struct {
	// Order is the nodes, each behind those that it waits for; After are those that a node waits for.
	Order []string
	After map[string][]string
	// Reused are the nodes that would be taken from the checkpoint.
	Reused map[string]bool
}

// Look says what a run of the config would do. Nothing is executed, asked or kept.
func Look(ctx context.Context, c Config) (*Preview, error) {
	top, err := newLevel(&c.Sub, c.Inputs)
	if err != nil {
		return nil, err
	}
	p := &Preview{Order: top.plan.Order(), After: map[string][]string{}, Reused: map[string]bool{}}
	for _, id := range p.Order {
		p.After[id] = top.plan.Waits(id)
	}
	if c.From == nil {
		return p, nil
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.Record, c.Cache, c.Ask = &unkept{from: c.From, reused: p.Reused}, nil, nil
	c.Adopt = func(event.Reference) (bool, error) { return true, nil }
	top.inherits, top.ctx = true, ctx
	e := &execution{
		Config: c, top: top, ctx: ctx, stop: stop, began: time.Now(), warned: map[string]bool{}, questions: map[*active]*level{}, digests: map[*Sub]string{},
	}
	e.adopt(top)
	return p, nil
}

// unkept is a record that keeps nothing but which nodes are reused.
type unkept struct {
	from   *Checkpoint
	reused map[string]bool
}

// Append notes a node of the workflow's own that is reused.
func (u *unkept) Append(e *event.Event) error {
	if e.Event == event.NodeReused && !strings.Contains(e.Node, "/") {
		u.reused[e.Node] = true
	}
	return nil
}

// Line gives an event without outputs: what a batch would put out nobody reads.
func (u *unkept) Line(int64) ([]byte, error) { return []byte("{}\n"), nil }

// PutBlob names a long value, NewBlob takes one that nobody reads, Blob fetches one of the checkpoint.
func (u *unkept) PutBlob(content []byte) (string, error) { return event.Name(content), nil }

// NewBlob is for package event.
func (u *unkept) NewBlob() (event.Blob, error) { return discarded{io.Discard}, nil }

// Blob is for package event.
func (u *unkept) Blob(ref string) ([]byte, error) { return u.from.Blob(ref) }

// Log is where nobody says anything.
func (u *unkept) Log(string, string) io.WriteCloser { return discarded{io.Discard} }

type discarded struct{ io.Writer }

func (discarded) Keep() (string, error) { return event.Name(nil), nil }
func (discarded) Drop()                 {}
func (discarded) Close() error          { return nil }
