package reader

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// runs are the runs of a home that a test writes.
type runs struct {
	*testing.T
	*Runs
	home *home.Home
}

func newRuns(t *testing.T) *runs {
	t.Helper()
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	return &runs{t, Open(h), h}
}

// begin records events of a run and keeps it live.
func (r *runs) begin(workflow string, events ...*event.Event) *journal.Writer {
	r.Helper()
	w, err := journal.Create(r.home, journal.Options{Definition: []byte("{}")})
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(w.Close)
	first := &event.Event{Event: event.RunStarted, Workflow: &event.Workflow{Name: workflow}, Nodes: []string{"a", "b", "c"}}
	for _, e := range append([]*event.Event{first}, events...) {
		r.append(w, e)
	}
	return w
}

func (r *runs) append(w *journal.Writer, e *event.Event) {
	r.Helper()
	if err := w.Append(e); err != nil {
		r.Fatal(err)
	}
}

// record records events of a run that nothing executes any more.
func (r *runs) record(workflow string, events ...*event.Event) string {
	r.Helper()
	w := r.begin(workflow, events...)
	w.Close()
	return w.ID
}

func (r *runs) find(id string) *Run {
	r.Helper()
	run, err := r.Find(id)
	if err != nil {
		r.Fatal(err)
	}
	return run
}

func finished(status event.Status) *event.Event {
	ms := 1.5
	return &event.Event{Event: event.RunFinished, Status: status, DurationMS: &ms}
}

func node(kind event.Kind, path string) *event.Event { return &event.Event{Event: kind, Node: path} }

func TestList(t *testing.T) {
	r := newRuns(t)
	ids := map[string]string{
		"done":        r.record("x", finished(event.Completed)),
		"failed":      r.record("y", finished(event.Failed)),
		"interrupted": r.record("x"),
		"live":        r.begin("y").ID,
	}
	unread, err := journal.Create(r.home, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.append(unread, &event.Event{Event: event.RunStarted})
	unread.Close()
	if err := r.home.Write([]byte("no event\n"), 0o600, "runs", unread.ID, "journal.ndjson"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    Query
		want []string
	}{
		{Query{}, []string{"live", "interrupted", "failed", "done"}},
		{Query{Workflow: "x"}, []string{"interrupted", "done"}},
		{Query{Status: Running}, []string{"live"}},
		{Query{Status: event.Failed, Workflow: "y"}, []string{"failed"}},
		{Query{Status: event.Failed, Workflow: "x"}, nil},
	} {
		var got, unreadable []string
		for s, err := range r.List(c.q) {
			if err != nil {
				unreadable = append(unreadable, s.RunID)
				continue
			}
			got = append(got, s.RunID)
			if ended := s.Status != Running && s.Status != Interrupted; s.StartedAt == nil || (s.DurationMS != nil) != ended {
				t.Errorf("%+v", s)
			}
		}
		var want []string
		for _, name := range c.want {
			want = append(want, ids[name])
		}
		if !slices.Equal(got, want) || !slices.Equal(unreadable, []string{unread.ID}) {
			t.Errorf("%+v: %q, want %q; not read: %q", c.q, got, want, unreadable)
		}
	}
	for s, err := range r.List(Query{Status: "complete"}) {
		f := fault.From(err)
		if err == nil || f.Type != fault.Usage || len(f.Available) != len(Statuses()) || s.RunID != "" {
			t.Errorf("%+v %v", s, err)
		}
	}
}

func TestAnInterruptedRun(t *testing.T) {
	r := newRuns(t)
	yes, ms := true, 2.0
	run := r.find(r.record("w",
		node(event.NodeStarted, "a"), &event.Event{Event: event.NodeCompleted, Node: "a", DurationMS: &ms},
		node(event.NodeStarted, "b"), &event.Event{Event: event.NodeFailed, Node: "b", Handled: &yes},
		node(event.NodeStarted, "c"), node(event.NodeStarted, "c/inner")))
	last, err := run.Follow(t.Context(), nil)
	if err != nil || last != nil {
		t.Fatalf("%v %v", last, err)
	}
	a, err := run.Answer(last, 0)
	if err != nil || a.Success || a.Status != Interrupted || string(a.Outputs) != "{}" || !slices.Equal(a.Checkpoint.CompletedNodes, []string{"a", "b"}) {
		t.Errorf("%+v %v", a, err)
	}
	o, err := run.Overview(false)
	if err != nil || o.Status != Interrupted || len(o.Running) > 0 || !slices.Equal(o.Completed, []string{"a", "b"}) || o.Nodes != (NodeCounts{Total: 3, Completed: 1, Failed: 1}) {
		t.Errorf("%+v %v", o, err)
	}
	d, err := run.Details(0)
	if err != nil || len(d.Nodes) != 4 || d.Nodes[2].State != "interrupted" || d.Nodes[3].Node != "c/inner" {
		t.Fatalf("%+v %v", d, err)
	}
	for _, said := range []string{a.Resume, o.Resume, d.Resume, a.Error.Next[0].Call(fault.Shell), d.Error.Next[0].Call(fault.Shell)} {
		if said != "pflow-exec resume "+run.ID() {
			t.Errorf("%q does not say how to go on", said)
		}
	}
	if _, err := run.Node("c/iner", 0); fault.From(err).Type != fault.NotFound || !slices.Contains(fault.From(err).Available, "c/inner") {
		t.Error(err)
	}
	before := r.find(r.record("w"))
	if a, err := before.Answer(nil, 0); err != nil || a.Checkpoint.CompletedNodes == nil {
		t.Errorf("%+v %v", a, err)
	}
}

func TestFollowEndsWithTheLastEvent(t *testing.T) {
	r := newRuns(t)
	w := r.begin("w", node(event.NodeStarted, "a"))
	run := r.find(w.ID)
	if o, err := run.Overview(false); err != nil || o.Status != Running || !slices.Equal(o.Running, []string{"a"}) ||
		len(o.RunningNodes) != 1 || o.RunningNodes[0].Node != "a" || o.RunningNodes[0].DurationMS <= 0 {
		t.Errorf("%+v %v", o, err)
	}
	lines := 0
	last, err := run.Follow(t.Context(), func([]byte) error {
		if lines++; lines == 2 {
			r.append(w, finished(event.Degraded))
		}
		return nil
	})
	if err != nil || last == nil || last.Status != event.Degraded || lines != 3 {
		t.Errorf("%v %d %v", last, lines, err)
	}
	stop := errors.New("stop")
	if _, err := run.Follow(t.Context(), func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	kinds := ""
	if err := run.Events(func(e *event.Event, line []byte) error {
		kinds += string(e.Event) + " "
		if !strings.HasSuffix(string(line), "}\n") {
			t.Errorf("%q", line)
		}
		return nil
	}); err != nil || kinds != "run_started node_started run_finished " {
		t.Errorf("%s %v", kinds, err)
	}
}

// A long text of an answer is named by its output, with where it can be read.
func TestLongTextsOfAnAnswer(t *testing.T) {
	r := newRuns(t)
	long := strings.Repeat("x", 3000)
	w := r.begin("w")
	last := finished(event.Completed)
	last.Outputs = []byte(`{"short":"s","long":"` + long + `"}`)
	r.append(w, last)
	run := r.find(w.ID)
	for limit, want := range map[int]bool{0: true, 3000: true, 2999: false} {
		a, err := run.Answer(last, limit)
		if err != nil || strings.Contains(string(a.Outputs), long) != want || !strings.Contains(string(a.Outputs), `"short":"s"`) {
			t.Errorf("%d: %s %v", limit, a.Outputs, err)
		}
		if uri := `"pflow://runs/` + w.ID + `/outputs/long"`; !want && !strings.Contains(string(a.Outputs), uri) {
			t.Errorf("%s does not have %s", a.Outputs, uri)
		}
	}
}

func TestLogsOfNodes(t *testing.T) {
	r := newRuns(t)
	w := r.begin("w", node(event.NodeStarted, "a"), node(event.NodeStarted, "b"), node(event.NodeStarted, "b/x"), node(event.NodeStarted, "bb"))
	for _, l := range []Log{{Node: "a", Stream: "stdout"}, {Node: "b/x", Stream: "stderr"}, {Node: "b", Stream: "stdout"}, {Node: "bb", Stream: "stdout"}} {
		log := w.Log(l.Node, l.Stream)
		_, err := log.Write([]byte(l.Node + "\n"))
		if err = errors.Join(err, log.Close()); err != nil {
			t.Fatal(err)
		}
	}
	run := r.find(w.ID)
	for q, want := range map[LogQuery]string{
		{}:                            "a\nb\nb/x\nbb\n",
		{Node: "b"}:                   "b\nb/x\n",
		{Node: "b", Stream: "stderr"}: "b/x\n",
		{Stream: "stdout"}:            "a\nb\nbb\n",
		{Node: "c"}:                   "",
	} {
		got := ""
		if err := run.Logs(t.Context(), q, func(_ Log, piece []byte) error { got += string(piece); return nil }); err != nil || got != want {
			t.Errorf("%+v: %q %v, want %q", q, got, err, want)
		}
	}
	if err := run.Logs(t.Context(), LogQuery{Node: "d"}, func(Log, []byte) error { return nil }); fault.From(err).Type != fault.NotFound {
		t.Error(err)
	}
}
