package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// After a batch is edited, only the changed items and the nodes that depend on them run.
func TestOfAnEditedBatchOnlyTheChangedItemsRun(t *testing.T) {
	s, b := failing(t), newBench(t)
	def := func(items, end string) string {
		return `{"nodes":[` + s.node("each", "${item.p}", `,"batch":{"items":`+items+`}`) + `,` + s.node("other", "other", "") + `,
			{"id":"last","type":"echo","params":{"message":"${each.count} ${each.results[1].item.note}` + end + `"}}]}`
	}
	first := b.play(t.Context(), def(`[{"p":"a"},{"p":"b","note":"x"},{"p":"bad"}]`, ""), func(c *engine.Config) { c.Jobs = 1 })
	if first.last.Status != event.Failed {
		t.Fatal(first.last.Status)
	}
	for name, c := range map[string]struct{ items, called, last string }{
		"one was mended":            {`[{"p":"a"},{"p":"b","note":"x"},{"p":"c"}]`, "c other", `"3 x"`},
		"one was taken out":         {`[{"p":"a"},{"p":"b","note":"y"}]`, "other", `"2 y"`},
		"they changed their places": {`[{"p":"b"},{"p":"a","note":"z"}]`, "a b other", `"2 z"`},
	} {
		t.Run(name, func(t *testing.T) {
			s.forget()
			second := b.play(t.Context(), def(c.items, ""), first.whole(b))
			second.ended(t, event.Completed)
			if got := strings.Join(s.called(), " "); got != c.called || second.get("last.echo") != c.last {
				t.Errorf("called %s, last %s", got, second.get("last.echo"))
			}
			third := b.play(t.Context(), def(c.items, "!"), second.whole(b))
			if got := third.nodes(event.NodeReused); got != "each other" {
				t.Errorf("reused %s", got)
			}
		})
	}
}

// The results have the whole item, also the parts that no template reads.
func TestAnItemThatNoTemplateReadsCountsToo(t *testing.T) {
	b := newBench(t)
	def := `{"inputs":{"list":{}},"nodes":[{"id":"each","type":"echo","params":{"data":"${item.a}"},"batch":{"items":"${list}"}},{"id":"last","type":"echo","params":{"data":"${each.results[0].item.b}"}}]}`
	list := func(b int) func(*engine.Config) {
		return func(c *engine.Config) { c.Inputs["list"] = json.RawMessage(fmt.Sprintf(`[{"a":1,"b":%d}]`, b)) }
	}
	first := b.play(t.Context(), def, list(1))
	second := b.play(t.Context(), def, list(2), first.whole(b))
	if got := second.get("last.data"); got != "2" || len(second.of(event.ItemCompleted)) != 1 || second.of(event.ItemCompleted)[0].FromRun != first.id {
		t.Errorf("%s", got)
	}
}

func TestAJournalWithWhatIsUnknown(t *testing.T) {
	b := newBench(t)
	def := `{"nodes":[` + shellNode("a", "echo a >> ran; echo 1") + `,{"id":"each","type":"shell","params":{"command":"echo ${item} >> ran; test \"${item}\" != 3 || test \"${a.stdout}\" = 2"},"batch":{"items":[1,2,3]}}]}`
	first := b.play(t.Context(), def)
	first.ended(t, event.Failed)
	var journal bytes.Buffer
	for _, line := range first.lines {
		journal.WriteString(`{"v":1,"seq":1,"event":"node_dreamt","run":"r","time":"2026-01-01T00:00:00Z","node":"a","depth":{"x":[1]}}` + "\n")
		journal.Write(append(bytes.TrimSuffix(line, []byte("}\n")), `,"mood":["fine",{"a":null}]}`+"\n"...))
	}
	journal.WriteString(`{"v":1,"seq":99,"event":"node_comp`) // torn
	checkpoint, err := resume.Read(bytes.NewReader(journal.Bytes()), first.rec.Blob)
	if err != nil {
		t.Fatal(err)
	}
	second := b.play(t.Context(), strings.Replace(def, "= 2", "= 1", 1), func(c *engine.Config) { c.Memory = checkpoint })
	second.ended(t, event.Completed)
	if got := b.file("ran"); got != "a\n1\n2\n3\n1\n2\n3\n" || second.nodes(event.NodeReused) != "a" { // the command of the batch has changed
		t.Errorf("ran %q, reused %s", got, second.nodes(event.NodeReused))
	}
	third := b.play(t.Context(), def, func(c *engine.Config) { c.Memory = checkpoint })
	third.ended(t, event.Failed)
	if got := b.file("ran"); got != "a\n1\n2\n3\n1\n2\n3\n3\n" {
		t.Errorf("ran %q", got)
	}
}

// The reasons why a run was not a full success pass on to the runs that resume it, and to those that resume them.
func TestWhatWasDegradedStaysDegraded(t *testing.T) {
	s := failing(t)
	for name, c := range map[string]struct{ node, more string }{
		"a batch with a failure":   {s.node("n", "${item}", `,"batch":{"items":["a","bad"],"error_handling":"continue"}`), ""},
		"in a sub-workflow":        {`{"id":"n","type":"workflow","params":{"workflow":{"nodes":[{"id":"bad","type":"echo","params":{"count":"${src.echo}"}},{"id":"src","type":"echo"},{"id":"mend","type":"echo"}],"edges":[{"from":"bad","to":"mend","action":"error"},{"from":"src","to":"mend","action":"error"},{"from":"src","to":"end"}]}}}`, ""},
		"two workflows below":      {`{"id":"n","type":"workflow","params":{"workflow":{"nodes":[{"id":"deep","type":"workflow","params":{"workflow":{"nodes":[{"id":"bad","type":"echo","params":{"count":"${src.echo}"}},{"id":"src","type":"echo"},{"id":"mend","type":"echo"}],"edges":[{"from":"bad","to":"mend","action":"error"},{"from":"src","to":"mend","action":"error"},{"from":"src","to":"end"}]}}}]}}}`, ""},
		"in a batch of those":      {`{"id":"n","type":"workflow","params":{"inputs":{"x":"${item}"},"workflow":{"inputs":{"x":{}},"nodes":[{"id":"bad","type":"echo","params":{"count":"${x}"}},{"id":"mend","type":"echo"}],"edges":[{"from":"bad","to":"mend","action":"error"}]}},"batch":{"items":["y",1]}}`, ""},
		"a template left standing": {`{"id":"n","type":"echo","params":{"message":"${free.data.gone}"}}`, `"template_resolution_mode":"permissive",`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			def := func(end string) string {
				return `{` + c.more + `"nodes":[` + c.node + `,{"id":"free","type":"echo","params":{"data":{}}},{"id":"last","type":"echo","params":{"message":"` + end + `","data":"${n ?? 1}"}}]}`
			}
			first := b.play(t.Context(), def("a"))
			first.ended(t, event.Degraded)
			warned := first.last.Warnings
			p := first
			for _, end := range []string{"b", "c"} {
				p = b.play(t.Context(), def(end), p.whole(b))
				p.ended(t, event.Degraded)
				if got := p.nodes(event.NodeReused); got != "free n" || strings.Join(p.last.Warnings, "|") != strings.Join(warned, "|") {
					t.Errorf("reused %s, warned %q, want %q", got, p.last.Warnings, warned)
				}
			}
			for i, e := range first.events { // an item or an inner node is done
				if e.Event == event.ItemCompleted || e.Event == event.NodeFailed && strings.Contains(e.Node, "/") {
					b.play(t.Context(), def("a"), first.from(b, i+1)).ended(t, event.Degraded)
				}
			}
		})
	}
}

// Batches that are resumed wait for a slot, except for the items that are reused.
func TestBatchesThatGoOnWaitForTheirTurn(t *testing.T) {
	s, b := newService(t), newBench(t)
	var nodes []string
	for i := range 4 {
		nodes = append(nodes, s.node(fmt.Sprintf("n%d", i), fmt.Sprintf("n%d-${item}", i), `,"batch":{"items":[1,2,3]}`))
	}
	def := `{"nodes":[` + strings.Join(nodes, ",") + `]}`
	s.answer = func(path string, n int, _ <-chan struct{}) (int, string) {
		if strings.HasSuffix(path, "2") && n == 1 {
			return http.StatusTeapot, "{}"
		}
		return http.StatusOK, "{}"
	}
	first := b.play(t.Context(), def, func(c *engine.Config) { c.KeepGoing = true })
	if got := len(first.of(event.ItemCompleted)); got != 4 {
		t.Fatalf("%d items", got)
	}
	m := newMeeting(2)
	s.answer = func(_ string, n int, _ <-chan struct{}) (int, string) {
		attend(m, time.After(20*time.Millisecond)) // for another one, which must not come
		return http.StatusOK, "{}"
	}
	told := 0
	second := b.play(t.Context(), def, first.whole(b), func(c *engine.Config) {
		c.Jobs = 1
		c.Reused = func() error { told = len(b.read(c.RunID, nil).of(event.ItemCompleted)); return nil }
	})
	second.ended(t, event.Completed)
	if m.peak != 1 || told != 4 || len(second.of(event.ItemCompleted)) != 12 {
		t.Errorf("%d at once; %d items stood in the record before anything ran", m.peak, told)
	}
}

// What the checkpoint has passes on to a later run, even if this one fails at once.
func TestAFailureLosesNothingOfTheCheckpoint(t *testing.T) {
	for name, wrap := range map[string]string{"of the run": "%s", "of a sub-workflow": `{"nodes":[{"id":"s","type":"workflow","params":{"workflow":%s}}]}`} {
		t.Run(name, func(t *testing.T) {
			s, b := newService(t), newBench(t)
			s.answer = func(path string, n int, _ <-chan struct{}) (int, string) {
				if strings.HasSuffix(path, "2") && n == 1 {
					return http.StatusTeapot, "{}"
				}
				return http.StatusOK, "{}"
			}
			batch := `,"batch":{"items":[1,2,3]}`
			def := fmt.Sprintf(wrap, `{"nodes":[{"id":"src","type":"echo","params":{"data":{}}},`+s.node("a", "a${item}", batch)+`,`+s.node("d", "d${item}", batch)+`,
				{"id":"b","type":"workflow","params":{"inputs":{"i":"${item}"},"workflow":{"inputs":{"i":{}},"nodes":[`+s.node("c", "b${i}", "")+`]}}`+batch+`}]}`)
			first := b.play(t.Context(), def, func(c *engine.Config) { c.KeepGoing = true })
			if n := len(first.of(event.ItemCompleted)); n != 3 {
				t.Fatalf("%d items", n)
			}
			second := b.play(t.Context(), strings.Replace(def, `"items":[1,2,3]`, `"items":"${src.data.gone}"`, 1), first.whole(b), func(c *engine.Config) { c.Jobs = 1 })
			second.failed(t, fault.Template, "${src.data.gone}")
			if got := len(second.of(event.ItemCompleted)); got < 2 {
				t.Errorf("%d items are left", got)
			}
		})
	}
}

// A resumed batch does not go on if a failure stops the run before the batch has a slot.
func TestNothingGoesOnAfterAFailure(t *testing.T) {
	s, b := newService(t), newBench(t)
	s.answer = func(path string, _ int, _ <-chan struct{}) (int, string) {
		return map[bool]int{true: http.StatusOK, false: http.StatusTeapot}[path == "1"], "{}"
	}
	def := `{"nodes":[` + s.node("bad", "bad", "") + `,` + s.node("each", "${item}", `,"batch":{"items":[1,2,"${bad.response.x ?? 3}"]}`) + `]}`
	first := b.play(t.Context(), def, func(c *engine.Config) { c.KeepGoing = true })
	if got := strings.Join(s.called(), " "); got != "1 2 bad" {
		t.Fatalf("called %s", got)
	}
	s.forget()
	b.play(t.Context(), def, first.whole(b)).failed(t, fault.Execution, "bad")
	if got := strings.Join(s.called(), " "); got != "bad" {
		t.Errorf("called %s", got)
	}
	s.forget()
	b.play(t.Context(), def, first.whole(b), func(c *engine.Config) { c.KeepGoing = true }).failed(t, fault.Execution, "bad")
	if got := strings.Join(s.called(), " "); got != "2 bad" {
		t.Errorf("called %s", got)
	}
}

func TestWhatIsInsideItemsIsTakenBeforeAnythingRuns(t *testing.T) {
	s, b := newService(t), newBench(t)
	s.answer = func(path string, n int, _ <-chan struct{}) (int, string) {
		if strings.HasPrefix(path, "second") && n == 1 {
			return http.StatusTeapot, "{}"
		}
		return http.StatusOK, "{}"
	}
	def := `{"nodes":[{"id":"each","type":"workflow","params":{"inputs":{"i":"${item}"},"workflow":{"inputs":{"i":{}},"nodes":[` + s.node("a", "first${i}", "") + `,` + s.node("b", "second${i}", "") + `],
		"edges":[{"from":"a","to":"b"}]}},"batch":{"items":[1,2],"parallel":true}}]}`
	first := b.play(t.Context(), def)
	first.ended(t, event.Failed)
	reused := ""
	b.play(t.Context(), def, first.whole(b), func(c *engine.Config) {
		c.Reused = func() error { reused = b.read(c.RunID, nil).nodes(event.NodeReused); return nil }
	}).ended(t, event.Completed)
	if reused != "each[0]/a each[1]/a" {
		t.Errorf("reused before anything ran: %s", reused)
	}
}

func TestAnItemWhoseLongValueIsGoneRunsAgain(t *testing.T) {
	s, b := newService(t), newBench(t)
	s.answer = func(path string, n int, _ <-chan struct{}) (int, string) {
		if path == "3" && n == 1 {
			return http.StatusTeapot, "{}"
		}
		return http.StatusOK, `"` + strings.Repeat(path, 70000) + `"`
	}
	def := `{"nodes":[` + s.node("each", "${item}", `,"batch":{"items":[1,2,3]}`) + `]}`
	first := b.play(t.Context(), def)
	checkpoint := first.whole(b)
	name := event.Digest([]byte(strings.Repeat("2", 70000)))
	if err := os.Remove(b.home.Path("runs", first.id, "blobs", strings.TrimPrefix(name, "sha256:"))); err != nil {
		t.Fatal(err)
	}
	s.forget()
	second := b.play(t.Context(), def, checkpoint)
	second.ended(t, event.Completed)
	if got := strings.Join(s.called(), " "); got != "2 3" || len(second.get("each.results.1.response")) != 70002 {
		t.Errorf("called %s", got)
	}
}

func TestEveryIterationIsTakenBeforeAnythingRuns(t *testing.T) {
	s, b := counter(t), newBench(t)
	def := `{"nodes":[` + s.node("a", "a", `,"loop":{"while":"${a.response.more}"}`) + `,` + s.node("b", "b", `,"loop":{"while":"${b.response.more}"}`) + `]}`
	first := b.play(t.Context(), def)
	cut, n := 0, 0
	for i, e := range first.events {
		if e.Event == event.IterationCompleted {
			if n++; n == 4 {
				cut = i + 1
			}
		}
	}
	told := 0
	done := len(first.of(event.NodeCompleted))
	for _, e := range first.events[cut:] {
		if e.Event == event.NodeCompleted {
			done--
		}
	}
	second := b.play(t.Context(), def, first.from(b, cut), func(c *engine.Config) {
		c.Jobs = 1
		c.Reused = func() error { told = len(b.read(c.RunID, nil).of(event.IterationCompleted)); return nil }
	})
	second.ended(t, event.Completed)
	if told != 4-2*done || *second.last.NodesExecuted != 2-done || *second.last.NodesReused != done {
		t.Errorf("%d iterations stood in the record before anything ran; %d executed", told, *second.last.NodesExecuted)
	}
}
