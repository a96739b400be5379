package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
)

// world is the service that random workflows call and the person who answers their questions.
type world struct {
	mu     sync.Mutex
	steady bool
	// failed has the flaky calls that have failed once, tags the calls of one run, asked its questions.
	failed map[string]bool
	tags   []string
	asked  []string
}

// reset forgets what the last run did.
func (w *world) reset() { w.tags, w.asked = nil, nil }

func (w *world) answer(_ context.Context, q engine.Question) (string, string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, q.Node)
	return "yes", "world", nil
}

// done returns the tags of the nodes, items and iterations that events settle, and the nodes whose question was answered.
func done(w *drawn, events []*event.Event) (tags, answered []string) {
	for _, e := range events {
		switch {
		case e.Settles():
			tags = append(tags, w.tagOf(e.Node))
		case e.Event == event.ItemCompleted:
			tags = append(tags, fmt.Sprintf("%s_i%d", w.tagOf(e.Node), *e.Item))
		case e.Event == event.IterationCompleted:
			tags = append(tags, fmt.Sprintf("%s_k%d", w.tagOf(e.Node), e.Iteration))
		case e.Event == event.ApprovalResolved:
			answered = append(answered, e.Node)
		}
	}
	return tags, answered
}

// Any prefix of a journal is a checkpoint. Whatever the workflow, with batches, loops, sub-workflows, retries, error edges,
// approvals and templates whose value may be missing; wherever the run is cut, and cut again; and whatever fails only once: a
// resumed run ends like one without random failures, and nothing that is settled runs or is asked again.
func TestAnyPrefixResumes(t *testing.T) {
	b, w, s := newBench(t), &world{}, newService(t)
	s.answer = w.play
	rapid.Check(t, func(t *rapid.T) {
		b.t = t
		flow := draw(t, s.url)
		adjust := func(c *engine.Config) {
			c.Ask, c.KeepGoing, c.Jobs = w.answer, flow.keepGoing, rapid.IntRange(1, 4).Draw(t, "jobs")
		}
		w.steady, w.failed = true, map[string]bool{}
		want := b.play(context.Background(), flow.definition, adjust)
		w.steady = false
		p := b.play(context.Background(), flow.definition, adjust)
		for range 40 {
			cut := len(p.lines)
			whole := rapid.IntRange(0, 2).Draw(t, "whole") == 0
			if !whole {
				cut = rapid.IntRange(1, len(p.lines)).Draw(t, "cut")
			}
			before, answered := done(flow, p.events[:cut])
			w.reset()
			p = b.play(context.Background(), flow.definition, adjust, p.from(b, cut))
			for _, tag := range before {
				for _, called := range w.tags {
					if rest, ok := strings.CutPrefix(called, tag); ok && (rest == "" || rest[0] == '.' || rest[0] == '_') {
						t.Fatalf("%s had its last word and %s was called again\n%s", tag, called, flow.definition)
					}
				}
			}
			for _, node := range answered {
				for _, asked := range w.asked {
					if node == asked {
						t.Fatalf("%s was asked about again\n%s", node, flow.definition)
					}
				}
			}
			if p.last.Status == want.last.Status && whole {
				break
			}
		}
		if p.last.Status != want.last.Status || string(p.last.Outputs) != string(want.last.Outputs) {
			t.Fatalf("ended %s %s: %v\n want %s %s: %v\n%s", p.last.Status, p.last.Outputs, p.last.Error, want.last.Status, want.last.Outputs, want.last.Error, flow.definition)
		}
	})
}
