package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
)

// looked returns a config change that takes the preview of a run right before it begins.
func looked(into **engine.Preview) func(*engine.Config) {
	return func(c *engine.Config) {
		var err error
		if *into, err = engine.DryRun(context.Background(), *c); err != nil {
			panic(err)
		}
	}
}

// intents returns the nodes of a preview with their intents, in the preview's order.
func intents(p *engine.Preview) string {
	var list []string
	for _, id := range p.Order {
		list = append(list, id+":"+string(p.Would[id]))
	}
	return strings.Join(list, " ")
}

// foretold checks a preview against what the run did.
func (p *played) foretold(t tester, look *engine.Preview) {
	did := map[engine.Intent]map[string]bool{engine.WouldReuse: {}, engine.WouldSkip: {}, engine.WouldAsk: {}}
	for _, e := range p.events {
		switch e.Event {
		case event.NodeReused:
			did[engine.WouldReuse][e.Node] = true
		case event.NodeStarted: // even if it was reused before
			delete(did[engine.WouldReuse], e.Node)
		case event.NodeSkipped:
			did[engine.WouldSkip][e.Node] = true
		case event.ApprovalRequested:
			did[engine.WouldAsk][e.Node] = true
		case event.ApprovalResolved:
			if e.By == "--approve" {
				delete(did[engine.WouldAsk], e.Node)
			}
		}
	}
	for _, id := range look.Order {
		would := look.Would[id]
		open := slices.ContainsFunc(look.After[id], func(from string) bool { // a node that runs may fail again and change nothing
			return look.Would[from] == engine.WouldRun || look.Would[from] == engine.WouldAsk
		})
		if reused := did[engine.WouldReuse][id]; would == engine.WouldReuse && !reused || reused && would != engine.WouldReuse && !open {
			t.Errorf("node %s: foretold %s, reused %v", id, would, did[engine.WouldReuse][id])
		}
		if would == engine.WouldSkip && !did[engine.WouldSkip][id] {
			t.Errorf("node %s was to be skipped", id)
		}
		if did[engine.WouldAsk][id] && would != engine.WouldAsk {
			t.Errorf("node %s: somebody was asked, foretold %s", id, would)
		}
	}
}

func TestAPreviewTellsWhatARunDoes(t *testing.T) {
	long := shellNode("long", `echo x >> ran; head -c 70000 /dev/zero | tr '\0' x`)
	for name, c := range map[string]struct {
		// first runs, and second resumes from all of it.
		first, second string
		adjust        func(*engine.Config)
		want          string
	}{
		"a new run": {
			second: `{"nodes":[{"id":"c","type":"echo","params":{"data":"${a.echo}"}},{"id":"a","type":"echo"},{"id":"b","type":"echo","approval":true}],"edges":[{"from":"a","to":"c"},{"from":"c","to":"b"}]}`,
			want:   "a:run c:run b:ask",
		},
		"all is there": {first: `{"nodes":[` + long + `]}`, second: `{"nodes":[` + long + `]}`, want: "long:reuse"},
		"a node was changed": {
			first:  `{"nodes":[{"id":"a","type":"echo"},{"id":"b","type":"echo","params":{"data":"${a.echo}"}},{"id":"c","type":"echo","params":{"data":"${b.data}"}},{"id":"d","type":"echo"}]}`,
			second: `{"nodes":[{"id":"a","type":"echo"},{"id":"b","type":"echo","params":{"data":"${a.echo}!"}},{"id":"c","type":"echo","params":{"data":"${b.data}"}},{"id":"d","type":"echo"},{"id":"e","type":"echo"}]}`,
			want:   "a:reuse d:reuse e:run b:run c:run",
		},
		"a way not taken": {
			first:  `{"nodes":[` + shellNode("a", "exit 1") + `,{"id":"no","type":"echo"},{"id":"mend","type":"echo"},` + shellNode("bad", "exit 2") + `],"edges":[{"from":"a","to":"no"},{"from":"a","to":"mend","action":"error"},{"from":"mend","to":"bad"}]}`,
			second: `{"nodes":[` + shellNode("a", "exit 1") + `,{"id":"no","type":"echo"},{"id":"mend","type":"echo"},` + shellNode("bad", "exit 0") + `],"edges":[{"from":"a","to":"no"},{"from":"a","to":"mend","action":"error"},{"from":"mend","to":"bad"}]}`,
			want:   "a:reuse no:skip mend:reuse bad:run",
		},
		"some items of a batch": {
			first:  `{"nodes":[{"id":"each","type":"shell","params":{"command":"test \"${item}\" != 2"},"batch":{"items":[1,2]}},{"id":"all","type":"shell","params":{"command":"true"},"batch":{"items":[1,2]}}]}`,
			second: `{"nodes":[{"id":"each","type":"shell","params":{"command":"test \"${item}\" != 2"},"batch":{"items":[1,2]}},{"id":"all","type":"shell","params":{"command":"true"},"batch":{"items":[1,2]}}]}`,
			adjust: func(c *engine.Config) { c.KeepGoing = true },
			want:   "each:run all:reuse",
		},
		"an inner node of a sub-workflow": {
			first:  `{"nodes":[{"id":"whole","type":"workflow","params":{"workflow":{"nodes":[{"id":"in","type":"echo"}]}}},{"id":"half","type":"workflow","params":{"workflow":{"nodes":[` + shellNode("one", "true") + `,` + shellNode("two", "cat there") + `]}}}]}`,
			second: `{"nodes":[{"id":"whole","type":"workflow","params":{"workflow":{"nodes":[{"id":"in","type":"echo"}]}}},{"id":"half","type":"workflow","params":{"workflow":{"nodes":[` + shellNode("one", "true") + `,` + shellNode("two", "cat there") + `]}}}]}`,
			adjust: func(c *engine.Config) { c.KeepGoing = true },
			want:   "whole:reuse half:run",
		},
		"an answer given with it": {first: fmt.Sprintf(gated, "true"), second: fmt.Sprintf(gated, "true"), adjust: given("yes"), want: "before:reuse free:reuse gate:run after:run"},
		"another answer":          {first: fmt.Sprintf(gated, "true"), second: fmt.Sprintf(gated, "true"), adjust: given("perhaps"), want: "before:reuse free:reuse gate:ask after:run"},
		"a secret that is read again": {
			first: `{"inputs":{"key":{"type":"string","secret":true}},"nodes":[` + shellNode("login", `echo "${key}"`) + `,` + shellNode("more", `echo "${login.stdout}"`) + `,` +
				shellNode("other", `echo "${key}"`) + `,` + shellNode("use", `echo "${more.stdout}"; false`) + `]}`,
			second: `{"inputs":{"key":{"type":"string","secret":true}},"nodes":[` + shellNode("login", `echo "${key}"`) + `,` + shellNode("more", `echo "${login.stdout}"`) + `,` +
				shellNode("other", `echo "${key}"`) + `,` + shellNode("use", `echo "${more.stdout}"`) + `]}`,
			adjust: secretly,
			want:   "login:run other:reuse more:run use:run",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if c.adjust == nil {
				c.adjust = func(*engine.Config) {}
			}
			adjust := []func(*engine.Config){c.adjust}
			if c.first != "" {
				adjust = append(adjust, b.play(t.Context(), c.first, c.adjust).whole(b))
			}
			var look *engine.Preview
			p := b.play(t.Context(), c.second, append(adjust, looked(&look))...)
			if got := intents(look); got != c.want {
				t.Errorf("foretold %s\nwant %s", got, c.want)
			}
			p.foretold(t, look)
		})
	}
}

// A preview is right for any workflow, and wherever the resumed run was cut.
func TestAPreviewOfAnyPrefix(t *testing.T) {
	b, w, s := newBench(t), &world{}, newService(t)
	s.answer = w.play
	rapid.Check(t, func(t *rapid.T) {
		b.t = t
		flow := draw(t, s.url)
		adjust := func(c *engine.Config) { c.Ask, c.KeepGoing = w.answer, flow.keepGoing }
		w.steady, w.failed = false, map[string]bool{}
		p := b.play(context.Background(), flow.definition, adjust)
		cut := rapid.IntRange(1, len(p.lines)).Draw(t, "cut")
		var look *engine.Preview
		b.play(context.Background(), flow.definition, adjust, p.from(b, cut), looked(&look)).foretold(t, look)
	})
}

// A node whose long value is lost runs again, and the preview of that changes no file.
func TestAPreviewLeavesEverythingAsItIs(t *testing.T) {
	b := newBench(t)
	definition := `{"nodes":[` + shellNode("long", `echo x >> ran; head -c 70000 /dev/zero | tr '\0' x`) + `,` + shellNode("next", "echo x >> ran; false") + `]}`
	first := b.play(t.Context(), definition)
	blobs, err := filepath.Glob(filepath.Join(b.home.Path("runs", first.id, "blobs"), "*"))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("%v %v", blobs, err)
	}
	for _, want := range []string{"long:reuse next:run", "long:run next:run"} {
		var look *engine.Preview
		p := b.play(t.Context(), definition, first.whole(b), func(c *engine.Config) {
			before := b.files()
			looked(&look)(c)
			if after := b.files(); before != after {
				t.Errorf("there was\n%s\nthere is\n%s", before, after)
			}
		})
		if got := intents(look); got != want {
			t.Errorf("foretold %s, want %s", got, want)
		}
		p.foretold(t, look)
		if err := os.RemoveAll(blobs[0]); err != nil {
			t.Fatal(err)
		}
	}
}

// files lists all files with their sizes.
func (b *bench) files() string {
	var list strings.Builder
	for _, dir := range []string{b.home.Dir(), b.dir} {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				b.t.Fatalf("%v", err)
			}
			if info, err := d.Info(); err == nil && !d.IsDir() {
				_, _ = fmt.Fprintln(&list, path, info.Size())
			}
			return nil
		})
	}
	return list.String()
}
