package library

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestStatisticsOfDraftsAreTheirOwn(t *testing.T) {
	l, h := open(t, map[string]string{"library/a.json": hello, "workflows/a.json": hello, "workflows/b.json": hello, "workflows/c.json": hello})
	for i, name := range []string{"a", "b", "b", "c"} {
		if err := l.RecordDraftRun(t.Context(), name, "completed", time.Now(), time.Duration(i)*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.RecordRun(t.Context(), "a", "failed", time.Now(), time.Second); err != nil {
		t.Fatal(err)
	}
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
	for _, name := range []string{"b", "c"} {
		if _, err := os.Stat(h.Path("stats", "drafts", name+".json")); !os.IsNotExist(err) {
			t.Errorf("the statistics of the draft %s are left: %v", name, err)
		}
	}
	if n := runs(l.Draft("a")); n != 1 {
		t.Errorf("the draft of the saved workflow has %d runs", n)
	}
}

func TestStatisticsAreDerived(t *testing.T) {
	l, _ := open(t, map[string]string{
		"library/new.json": hello, "library/old.json": hello, "library/torn.json": hello, "library/stopped.json": hello,
		"stats/old.json": `{"runs":4,"successes":3,"failures":1,"last_duration_ms":7}`, "stats/torn.json": `{"runs`,
	})
	of := func(name string) (Statistics, error) {
		e, err := l.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return e.Statistics()
	}
	if s, err := of("new"); err != nil || s.SuccessRate != nil || s.P95DurationMS != nil || s.Runs != 0 {
		t.Errorf("without runs: %+v %v", s, err)
	}
	if s, err := of("old"); err != nil || s.SuccessRate == nil || *s.SuccessRate != 0.75 || s.P95DurationMS != nil || s.LastDurationMS != 7 {
		t.Errorf("of an older version: %+v %v", s, err)
	}
	s, err := of("torn")
	if f := fault.From(err); s.Runs != 0 || f == nil || f.Type != fault.Validation || !strings.Contains(f.File, "torn.json") {
		t.Errorf("of a broken file: %+v %v", s, err)
	}
	for i := range 130 {
		status := "completed"
		if i%4 == 0 {
			status = "failed"
		}
		if err := l.RecordRun(t.Context(), "old", status, time.Now(), time.Duration(i)*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	// the last 100 runs took 30 to 129 ms, so 95 of them took at most 124 ms
	if s, err := of("old"); err != nil || s.Runs != 134 || *s.SuccessRate != float64(3+97)/134 || s.P95DurationMS == nil || *s.P95DurationMS != 124 {
		t.Errorf("%+v %v %v", s, *s.P95DurationMS, err)
	}
	if err := l.RecordRun(t.Context(), "stopped", "cancelled", time.Now(), 9*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if s, err := of("stopped"); err != nil || s.SuccessRate != nil || *s.P95DurationMS != 9 {
		t.Errorf("of a run that was stopped: %+v %v", s, err)
	}
}
