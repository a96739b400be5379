package reader

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// ran records a run of a saved workflow that began at a time, and returns its id.
func (r *runs) ran(name string, status event.Status, start time.Time, took time.Duration) string {
	r.Helper()
	now := start
	w, err := journal.Create(r.home, journal.Options{Definition: []byte("{}"), Now: func() time.Time { return now }})
	if err != nil {
		r.Fatal(err)
	}
	defer w.Close()
	r.append(w, &event.Event{Event: event.RunStarted, Workflow: &event.Workflow{Name: name, Source: event.SourceLibrary}})
	now = start.Add(took)
	if ms := float64(took.Microseconds()) / 1000; status != Interrupted {
		r.append(w, &event.Event{Event: event.RunFinished, Status: status, DurationMS: &ms})
	}
	return w.ID
}

func (r *runs) statistics(name string) Statistics {
	r.Helper()
	s, err := r.Statistics(Source{true, name})
	if err != nil {
		r.Fatal(err)
	}
	return s
}

var begin = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

func TestStats(t *testing.T) {
	r := newRuns(t)
	if s := r.statistics("w"); s != (Statistics{}) {
		t.Errorf("without runs: %+v", s)
	}
	for i, status := range []event.Status{event.Completed, event.Degraded, event.Failed, event.TimedOut, event.Cancelled, Interrupted} {
		r.ran("w", status, begin.Add(time.Duration(i)*time.Second), time.Duration(i)*100*time.Millisecond)
	}
	r.ran("other", event.Completed, begin, 0)
	want := Stats{Runs: 5, Successes: 2, Failures: 2, LastRun: begin.Add(4 * time.Second), LastStatus: "cancelled", LastDurationMS: 400, AverageDurationMS: 200, TotalDurationMS: 1000}
	for range 2 {
		if d := cmp.Diff(want, r.statistics("w").Stats); d != "" {
			t.Error(d)
		}
	}
	if _, err := os.Stat(r.home.Path("stats")); !errors.Is(err, os.ErrNotExist) {
		t.Error("something else was created")
	}
	if err := os.Remove(r.home.Path("runs", ".index")); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, r.statistics("w").Stats); d != "" {
		t.Error(d)
	}
}

func TestStatisticsAreDerived(t *testing.T) {
	r := newRuns(t)
	for name, text := range map[string]string{"old": `{"runs":4,"successes":3,"failures":1,"last_duration_ms":7}`, "torn": `{"runs`} {
		if err := r.home.Write([]byte(text), 0o600, "stats", name+".json"); err != nil {
			t.Fatal(err)
		}
	}
	if s := r.statistics("new"); s.SuccessRate != nil || s.P95DurationMS != nil || s.Runs != 0 {
		t.Errorf("without runs: %+v", s)
	}
	if s := r.statistics("old"); s.SuccessRate == nil || *s.SuccessRate != 0.75 || s.P95DurationMS != nil || s.LastDurationMS != 7 {
		t.Errorf("of an older version: %+v", s)
	}
	r.ran("torn", event.Failed, begin, time.Second)
	s, err := r.Statistics(Source{true, "torn"})
	if f := fault.From(err); s.Runs != 1 || f == nil || f.Type != fault.Validation || !strings.Contains(f.File, "torn.json") {
		t.Errorf("of a broken file: %+v %v", s, err)
	}
	for i := range 130 {
		status := event.Completed
		if i%4 == 0 {
			status = event.Failed
		}
		r.ran("old", status, begin.Add(time.Duration(i)*time.Second), time.Duration(i)*time.Millisecond)
	}
	// the last 100 runs took 30 to 129 ms, so 95 of them took at most 124 ms
	if s := r.statistics("old"); s.Runs != 134 || *s.SuccessRate != float64(3+97)/134 || s.P95DurationMS == nil || *s.P95DurationMS != 124 || s.LastDurationMS != 129 {
		t.Errorf("%+v %v", s, *s.P95DurationMS)
	}
	r.ran("stopped", event.Cancelled, begin, 9*time.Millisecond)
	if s := r.statistics("stopped"); s.SuccessRate != nil || *s.P95DurationMS != 9 {
		t.Errorf("of a run that was stopped: %+v", s)
	}
	if _, err := r.Statistics(Source{true, "../x"}); fault.From(err).Type != fault.Security {
		t.Error(err)
	}
}

// TestStatisticsOfRemovedRuns: what gc removes stays in the statistics, and counts once, whenever the process that keeps the figures
// is killed.
func TestStatisticsOfRemovedRuns(t *testing.T) {
	r := newRuns(t)
	var ids []string
	for i := range 40 {
		ids = append(ids, r.ran("w", [...]event.Status{event.Completed, event.Failed}[i%2], begin.Add(time.Duration(i)*time.Minute), time.Duration(i)*time.Millisecond))
	}
	want := r.statistics("w")
	same := func(when string) {
		t.Helper()
		if d := cmp.Diff(want, r.statistics("w")); d != "" {
			t.Errorf("%s: %s", when, d)
		}
	}
	keep, index := len(ids), r.home.Path("runs", ".index")
	remove := func(n int, killed bool) {
		t.Helper()
		keep -= n
		limits := journal.Limits{OlderThan: -1, Keep: keep}
		limits.Before = func(ids []string) {
			removed := r.Keep(ids)
			if killed { // before it has removed a run
				same("killed")
				removed = r.Keep(ids)
			}
			if err := removed(ids); err != nil {
				t.Error(err)
			}
		}
		if got, err := journal.Collect(r.home, limits, time.Now()); err != nil || len(got.Removed) != n {
			t.Fatal(got, err)
		}
	}
	settle := func() {
		t.Helper()
		if err := r.Settle(); err != nil {
			t.Fatal(err)
		}
	}
	remove(10, false)
	same("removed")
	settle()
	same("settled")
	for i := range 3 {
		remove(5, true)
		same(fmt.Sprint("killed ", i))
	}
	settle()
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	same("without the index")
	remove(keep, false)
	same("without runs")
	r.ran("w", event.Completed, begin.Add(time.Hour), time.Second)
	if s := r.statistics("w"); s.Runs != want.Runs+1 || s.LastDurationMS != 1000 {
		t.Errorf("%+v, after %+v", s, want)
	}
}

// TestStatisticsCountWhatListLists: the statistics count neither runs whose folders somebody has deleted, nor lines of another home.
func TestStatisticsCountWhatListLists(t *testing.T) {
	r, other := newRuns(t), newRuns(t)
	deleted := r.ran("w", event.Completed, begin, time.Second)
	r.ran("w", event.Failed, begin.Add(time.Minute), time.Second)
	other.ran("w", event.Completed, begin, time.Second)
	lines, err := os.ReadFile(other.home.Path("runs", ".index"))
	if err != nil {
		other.statistics("w") // makes the index
		if lines, err = os.ReadFile(other.home.Path("runs", ".index")); err != nil {
			t.Fatal(err)
		}
	}
	r.statistics("w")
	f, err := os.OpenFile(r.home.Path("runs", ".index"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(lines); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if s := r.statistics("w"); s.Runs != 2 {
		t.Errorf("with lines of another home: %+v", s)
	}
	if err := os.RemoveAll(r.home.Path("runs", deleted)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s := r.statistics("w"); s.Runs != 1 || s.Failures != 1 {
			t.Errorf("without the deleted run: %+v", s)
		}
		if err := r.Settle(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStatisticsWhenRemovalsOverlap: programs that remove the same runs at the same time count each run once.
func TestStatisticsWhenRemovalsOverlap(t *testing.T) {
	r := newRuns(t)
	for i := range 60 {
		r.ran("w", event.Completed, begin.Add(time.Duration(i)*time.Minute), time.Second)
	}
	want := r.statistics("w")
	var programs sync.WaitGroup
	for keep := range 4 {
		programs.Go(func() {
			for left := 50; left >= 0; left -= 10 {
				removed := func([]string) error { return nil }
				limits := journal.Limits{OlderThan: -1, Keep: max(0, left-keep), Before: func(ids []string) { removed = r.Keep(ids) }}
				got, err := journal.Collect(r.home, limits, time.Now())
				if err != nil || got.Failed != nil || removed(got.Removed) != nil {
					t.Errorf("%+v %v", got, err)
				}
			}
		})
	}
	programs.Wait()
	if d := cmp.Diff(want, r.statistics("w")); d != "" {
		t.Error(d)
	}
}

// TestRunsOfANameBefore: the statistics of a workflow begin anew when it was removed, and nothing of that stays when the runs are gone.
func TestRunsOfANameBefore(t *testing.T) {
	r := newRuns(t)
	old := r.ran("w", event.Completed, begin, time.Second)
	live := r.ran("live", Interrupted, begin, 0)
	for _, name := range []string{"w", "live", "never"} {
		if err := r.Forget(Source{true, name}); err != nil {
			t.Fatal(err)
		}
		if s := r.statistics(name); s != (Statistics{}) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	r.ran("w", event.Failed, time.Now().Add(time.Second), time.Second)
	if s := r.statistics("w"); s.Runs != 1 || s.Failures != 1 {
		t.Errorf("%+v", s)
	}
	if s, err := r.Statistics(Source{false, "w"}); err != nil || s.Runs != 0 {
		t.Errorf("the draft: %+v %v", s, err)
	}
	for _, id := range []string{old, live} {
		if err := os.RemoveAll(r.home.Path("runs", id)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Settle(); err != nil {
		t.Fatal(err)
	}
	if s := r.statistics("w"); s.Runs != 1 {
		t.Errorf("%+v", s)
	}
	for _, name := range []string{"live", "never"} {
		if _, err := os.Stat(r.home.Path("stats", name+".json")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStatisticsOfFractions: durations add up before they are rounded, and 95 % of the runs did not exceed p95_duration_ms.
func TestStatisticsOfFractions(t *testing.T) {
	r := newRuns(t)
	for i, took := range []time.Duration{5662, 4743, 4459} {
		r.ran("w", event.Completed, begin.Add(time.Duration(i)*time.Second), took*time.Microsecond)
	}
	check := func(when string) {
		t.Helper()
		s := r.statistics("w")
		if s.TotalDurationMS != 15 || s.AverageDurationMS != 5 || *s.P95DurationMS != 6 || s.LastDurationMS != 4 {
			t.Errorf("%s: %+v, p95 %d", when, s.Stats, *s.P95DurationMS)
		}
	}
	check("listed")
	for keep := 2; keep >= 0; keep-- {
		if _, err := journal.Collect(r.home, journal.Limits{OlderThan: -1, Keep: keep, Before: func(ids []string) { _ = r.Keep(ids)(ids) }}, time.Now()); err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprint("kept ", keep))
	}
}
