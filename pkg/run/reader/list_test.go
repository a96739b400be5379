package reader

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// ids returns the ids of the runs that a query selects, which must all be readable.
func (r *runs) ids(q Query) []string {
	r.Helper()
	ids := []string{}
	for s, err := range r.List(q) {
		if err != nil {
			r.Fatal(s.RunID, err)
		}
		ids = append(ids, s.RunID)
	}
	return ids
}

// list returns everything that a list says, as text.
func (r *runs) list(q Query) string {
	r.Helper()
	var text strings.Builder
	for s, err := range r.List(q) {
		if err != nil {
			r.Fatal(s.RunID, err)
		}
		at := ""
		if s.StartedAt != nil {
			at = s.StartedAt.Format(time.RFC3339Nano)
		}
		_, _ = fmt.Fprintf(&text, "%s %s %s %s %v\n", s.RunID, s.Workflow, s.Status, at, s.DurationMS != nil)
	}
	return text.String()
}

// replaceJournal replaces the journal of a run by other text of the same length, so that a list which reads it fails.
func (r *runs) replaceJournal(id string) {
	r.Helper()
	path := r.home.Path("runs", id, "journal.ndjson")
	info, err := os.Stat(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Repeat("x", int(info.Size())-1)+"\n"), 0o600)
	}
	if err != nil {
		r.Fatal(err)
	}
}

// TestAListReadsNoFinishedRun: a run that has ended is in the index after the first list, or when it recorded its end.
func TestAListReadsNoFinishedRun(t *testing.T) {
	r := newRuns(t)
	done, failed, own := r.record("a", finished(event.Completed)), r.record("b", finished(event.Failed)), r.record("c", finished(event.Paused))
	r.Record(own)
	live := r.begin("d")
	want := r.list(Query{})
	if strings.Count(want, "\n") != 4 {
		t.Fatal(want)
	}
	for _, id := range []string{done, failed, own} {
		r.replaceJournal(id)
	}
	if got := r.list(Query{}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r.append(live, finished(event.Completed))
	live.Close()
	if got := r.list(Query{Status: event.Completed}); !strings.Contains(got, live.ID) || !strings.Contains(got, done) {
		t.Errorf("the run that has just ended, and one before: %s", got)
	}
}

// TestARunThatChanged: a journal that is not the one of the line is read.
func TestARunThatChanged(t *testing.T) {
	r := newRuns(t)
	id, other := r.record("a", finished(event.Completed)), r.record("a", finished(event.Completed))
	if got := r.ids(Query{}); len(got) != 2 {
		t.Fatal(got)
	}
	path := r.home.Path("runs", id, "journal.ndjson")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(whole), "\n")
	if err := os.WriteFile(path, []byte(first+"\n"), 0o600); err != nil { // as a backup of the live run has it
		t.Fatal(err)
	}
	for range 2 {
		if got := r.list(Query{}); !strings.Contains(got, id+" a interrupted") || !strings.Contains(got, other+" a completed") {
			t.Error(got)
		}
	}
	if err := os.WriteFile(path, append(whole, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.ids(Query{Status: event.Completed}); !slices.Equal(got, []string{other, id}) {
		t.Error(got)
	}
	if err := os.RemoveAll(r.home.Path("runs", id)); err != nil {
		t.Fatal(err)
	}
	if got := r.ids(Query{}); !slices.Equal(got, []string{other}) {
		t.Error(got)
	}
}

// TestTheSameListWithAnyIndex: what is in the file of the index does not change the list.
func TestTheSameListWithAnyIndex(t *testing.T) {
	r := newRuns(t)
	for i := range 20 {
		r.record(fmt.Sprint("w", i), finished(event.Failed))
	}
	r.record("stopped")
	want := r.list(Query{})
	path := r.home.Path("runs", ".index")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for name, spoil := range map[string]func() error{
		"deleted":   func() error { return os.Remove(path) },
		"empty":     func() error { return os.Truncate(path, 0) },
		"truncated": func() error { return os.Truncate(path, int64(len(whole)/2)) },
		"foreign line": func() error {
			return os.WriteFile(path, []byte(lines[0]+`{"run":"r1","status":"completed"}`+"\n"+lines[1]), 0o600)
		},
		"another's facts": func() error {
			return os.WriteFile(path, []byte(strings.ReplaceAll(string(whole), "failed", "failes")), 0o600)
		},
		"garbage":       func() error { return os.WriteFile(path, []byte("\x00\xff{[\n"+strings.Repeat("y", 1<<20)), 0o600) },
		"1 GB of zeros": func() error { return os.Truncate(path, 1<<30) },
		"a folder":      func() error { return firstError(os.Remove(path), os.Mkdir(path, 0o700)) },
		"a link":        func() error { return firstError(os.RemoveAll(path), os.Symlink("/dev/zero", path)) },
	} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := spoil(); err != nil {
			t.Fatal(name, err)
		}
		for range 3 {
			if got := r.list(Query{}); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		if info, err := os.Lstat(path); err != nil || info.Mode().IsRegular() && info.Size() > 3<<20 {
			t.Errorf("%s: the index is still large: %v %v", name, info, err)
		}
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestQueries runs each query twice: on the journals, and on the index.
func TestQueries(t *testing.T) {
	r := newRuns(t)
	long := strings.Repeat("long ", 300)
	start := func(name, description, inputs string) *event.Event {
		return &event.Event{
			Event: event.RunStarted, Inputs: []byte(inputs),
			Workflow: &event.Workflow{Name: name, Definition: []byte(`{"description":"` + description + `"}`)},
		}
	}
	end := func(status event.Status, message string) *event.Event {
		e := finished(status)
		if message != "" {
			e.Error = fault.New(fault.Execution, "%s", message)
		}
		return e
	}
	names := map[string]string{}
	for _, c := range []struct {
		name         string
		first, ended *event.Event
	}{
		{"deploy", start("deploy", "Put the site online", `{"region":"eu","n":3,"on":true,"list":[1, 2],"token":"<redacted>"}`), end(event.Failed, "Connection REFUSED by a host")},
		{"long", start("long", long+"zebra", `{"text":"`+long+`","region":"us"}`), end(event.Failed, long+"giraffe")},
		{"live", start("deploy", "Put the site online", `{"region":"eu"}`), nil},
		{"plain", start("plain", "", `{}`), end(event.Completed, "")},
	} {
		w := r.begin("x")
		if err := os.Truncate(r.home.Path("runs", w.ID, "journal.ndjson"), 0); err != nil {
			t.Fatal(err)
		}
		r.append(w, c.first)
		if names[w.ID] = c.name; c.ended != nil {
			r.append(w, c.ended)
			w.Close()
		}
	}
	everything := []string{"plain", "live", "long", "deploy"}
	now := time.Now()
	for range 2 {
		var redacted []string
		for _, c := range []struct {
			q    Query
			want []string
		}{
			{Query{}, everything},
			{Query{Text: "refused CONNECTION"}, []string{"deploy"}},
			{Query{Text: "site"}, []string{"live", "deploy"}},
			{Query{Text: "site refused"}, []string{"deploy"}},
			{Query{Text: "zebra"}, []string{"long"}},
			{Query{Text: "giraffe long"}, []string{"long"}},
			{Query{Text: "elephant"}, nil},
			{Query{Inputs: map[string]string{"region": "eu"}}, []string{"live", "deploy"}},
			{Query{Inputs: map[string]string{"region": "eu", "n": "3"}}, []string{"deploy"}},
			{Query{Inputs: map[string]string{"on": "true", "list": "[1,2]"}}, []string{"deploy"}},
			{Query{Inputs: map[string]string{"text": long}}, []string{"long"}},
			{Query{Inputs: map[string]string{"text": long + "x"}}, nil},
			{Query{Inputs: map[string]string{"region": "e"}}, nil},
			{Query{Inputs: map[string]string{"other": ""}}, nil},
			{Query{Inputs: map[string]string{"token": "<redacted>"}, Redacted: func(name string) { redacted = append(redacted, name) }}, nil},
			{Query{Since: now.Add(-time.Hour), Until: now.Add(time.Hour)}, everything},
			{Query{Since: now.Add(time.Hour)}, nil},
			{Query{Until: now.Add(-time.Hour)}, nil},
			{Query{Status: event.Failed, Workflow: "long", Text: "long"}, []string{"long"}},
		} {
			var got []string
			for _, id := range r.ids(c.q) {
				got = append(got, names[id])
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%+v: %q, want %q", c.q, got, c.want)
			}
		}
		if !slices.Equal(slices.Compact(redacted), []string{"token"}) {
			t.Errorf("redacted: %q", redacted)
		}
	}
}

// TestPagesOfAList: pages have each run once, also if the run that a page ended with is removed.
func TestPagesOfAList(t *testing.T) {
	r := newRuns(t)
	for range 7 {
		r.record("w", finished(event.Completed))
	}
	all := r.ids(Query{})
	var got []string
	for before := ""; ; {
		page := r.ids(Query{Before: before})
		if len(page) == 0 {
			break
		}
		page = page[:min(2, len(page))]
		got = append(got, page...)
		if before = page[len(page)-1]; os.RemoveAll(r.home.Path("runs", before)) != nil {
			t.Fatal(before)
		}
	}
	if !slices.Equal(got, all) {
		t.Errorf("%q, want %q", got, all)
	}
	for text, ok := range map[string]bool{"": true, strings.ToUpper(all[0]): true, "r1": false, "last": false, "../r": false} {
		if _, err := Cursor(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTheNewestRunOfAWorkflow: a file is known by its path, a workflow of the home by its name.
func TestTheNewestRunOfAWorkflow(t *testing.T) {
	r := newRuns(t)
	begin := func(w *event.Workflow) string {
		run := r.begin("x")
		if err := os.Truncate(r.home.Path("runs", run.ID, "journal.ndjson"), 0); err != nil {
			t.Fatal(err)
		}
		r.append(run, &event.Event{Event: event.RunStarted, Workflow: w})
		r.append(run, finished(event.Failed))
		return run.ID
	}
	begin(&event.Workflow{Name: "w"})
	named := begin(&event.Workflow{Name: "w"})
	file := begin(&event.Workflow{Name: "w", Path: "/a/w.json"})
	other := begin(&event.Workflow{Name: "w", Path: "/b/w.json"})
	gone := begin(&event.Workflow{Name: "w", Path: "/b/v.json"})
	for _, c := range []struct{ name, path, want, likely string }{
		{"w", "", named, ""}, {"w", "/a/w.json", file, ""}, {"v", "/a/w.json", file, ""}, {"v", "", "", ""}, {"w", "/c", "", gone}, {"w", "/c/w.json", "", other},
	} {
		if got, likely, err := r.Newest(c.name, c.path); got != c.want || likely != c.likely || err != nil {
			t.Errorf("%q %q: got %q, likely %q, and %v, want %q and %q", c.name, c.path, got, likely, err, c.want, c.likely)
		}
	}
	r.replaceJournal(file)
	if got, _, err := r.Newest("w", "/a/w.json"); got != file || err != nil {
		t.Errorf("%q %v: a journal was read", got, err)
	}
}
