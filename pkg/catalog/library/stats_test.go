package library

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// ran records a run of a workflow of the home.
func ran(t *testing.T, h *home.Home, source, name string) {
	t.Helper()
	w, err := journal.Create(h, journal.Options{Definition: []byte(hello)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, e := range []*event.Event{
		{Event: event.RunStarted, Workflow: &event.Workflow{Name: name, Source: source}},
		{Event: event.RunFinished, Status: event.Completed},
	} {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStatisticsOfDraftsAreTheirOwn(t *testing.T) {
	l, h := open(t, map[string]string{"library/a.json": hello, "workflows/a.json": hello, "workflows/b.json": hello, "workflows/c.json": hello})
	for _, name := range []string{"a", "b", "b", "c"} {
		ran(t, h, event.SourceDraft, name)
	}
	ran(t, h, event.SourceLibrary, "a")
	ran(t, h, "", "b") // a file
	runs := func(e *Entry, err error) int {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.Statistics()
		if err != nil {
			t.Fatal(err)
		}
		return s.Runs
	}
	if saved, draft, other := runs(l.Find("a")), runs(l.Draft("a")), runs(l.Find("b")); saved != 1 || draft != 1 || other != 2 {
		t.Errorf("%d runs of the saved workflow, %d of its draft, %d of another draft", saved, draft, other)
	}
	if _, err := l.Save(t.Context(), "b", "b", "", false); err != nil {
		t.Fatal(err)
	}
	if n := runs(l.Find("b")); n != 0 {
		t.Errorf("the saved workflow begins with %d runs of its draft", n)
	}
	if _, err := l.RemoveDraft(t.Context(), "c", ""); err != nil {
		t.Fatal(err)
	}
	for removed := time.Now().UnixMilli(); time.Now().UnixMilli() == removed; { // a run that begins in the same millisecond would not count
		runtime.Gosched()
	}
	for _, name := range []string{"b", "c"} {
		if err := os.WriteFile(h.Path("workflows", name+".json"), []byte(hello), 0o600); err != nil {
			t.Fatal(err)
		}
		if n := runs(l.Draft(name)); n != 0 {
			t.Errorf("a new draft %s begins with %d runs of the one before", name, n)
		}
		ran(t, h, event.SourceDraft, name)
		if n := runs(l.Draft(name)); n != 1 {
			t.Errorf("a new draft %s has %d runs, not one", name, n)
		}
	}
	if n := runs(l.Draft("a")); n != 1 {
		t.Errorf("the draft of the saved workflow has %d runs", n)
	}
}
