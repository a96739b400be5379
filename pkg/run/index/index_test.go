package index

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home"
)

func newHome(t testing.TB) *home.Home {
	t.Helper()
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Make("runs"); err != nil {
		t.Fatal(err)
	}
	return h
}

// run returns the facts of a run; no two numbers have the same.
func run(n int) *Facts {
	at, ms := time.Date(2026, 1, 2, 3, 4, 5, n, time.UTC), float64(n)+0.5
	return &Facts{
		Run: fmt.Sprintf("r%026d", n), Workflow: fmt.Sprint("w", n%3), Status: event.Failed, StartedAt: &at, EndedAt: at.Add(time.Second),
		DurationMS: &ms, Error: fmt.Sprintf("say \"no\" to\n<%d>", n), Inputs: json.RawMessage(fmt.Sprintf(`{"n":%d,"text":"é\"\\"}`, n)), Size: int64(n),
	}
}

// add appends the line of a run.
func add(t rapid.TB, h *home.Home, f *Facts) {
	t.Helper()
	if err := Append(h, f); err != nil {
		t.Error(err)
	}
}

func all(string) bool { return true }

// TestFactsAreKept: what is appended is read again.
func TestFactsAreKept(t *testing.T) {
	h := newHome(t)
	if x := Read(h, 1); x.Get(run(1).Run) != nil {
		t.Error("an empty index has a run")
	}
	for n := range 20 {
		add(t, h, run(n))
	}
	x := Read(h, 20)
	for n := range 20 {
		if d := cmp.Diff(run(n), x.Get(run(n).Run)); d != "" {
			t.Error(d)
		}
	}
	if info, err := os.Stat(h.Path("runs", ".index")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}

// TestLongFactsAreCut: a line has the beginning of long texts and the digests of long inputs, and says what it does not have.
func TestLongFactsAreCut(t *testing.T) {
	long, h := strings.Repeat("é", 5000), newHome(t)
	quoted := `"` + long + `"`
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `,"k%d":"0123456789012345678901234567890123456789"`, i)
	}
	for name, c := range map[string]struct {
		change         func(f *Facts)
		texts, inputs  bool
		stored         bool
		digests, short string
	}{
		"short":       {func(*Facts) {}, false, false, true, "", `{"n":1,"text":"é\"\\"}`},
		"error":       {func(f *Facts) { f.Error = long }, true, false, true, "", `{"n":1,"text":"é\"\\"}`},
		"description": {func(f *Facts) { f.Description = long }, true, false, true, "", `{"n":1,"text":"é\"\\"}`},
		"input":       {func(f *Facts) { f.Inputs = json.RawMessage(`{"a":1,"b":` + quoted + `}`) }, false, false, true, `{"b":"` + event.Digest([]byte(long)) + `"}`, `{"a":1}`},
		"inputs":      {func(f *Facts) { f.Inputs = json.RawMessage(`{"a":1` + many.String() + `}`) }, false, true, true, "", ""},
		"blob":        {func(f *Facts) { f.Inputs = json.RawMessage(`{"$blob":"sha256:0","bytes":3,"mime":"application/json"}`) }, false, true, true, "", ""},
		"bytes":       {func(f *Facts) { f.Inputs = json.RawMessage(`{"a":{"$base64":"AA=="},"b":2}`) }, false, true, true, "", `{"b":2}`},
		"escaped": {func(f *Facts) {
			f.Error, f.Description, f.Workflow = strings.Repeat("\x01", 400), strings.Repeat("\x01", 400), strings.Repeat("p", 4000)
		}, true, true, true, "", ""},
		"too long":       {func(f *Facts) { f.Workflow = long }, false, false, false, "", ""},
		"inputs no JSON": {func(f *Facts) { f.Inputs = json.RawMessage(`{"a":`) }, false, false, true, "", ""},
	} {
		f := run(1)
		f.Run = fmt.Sprintf("r%026x", name)
		c.change(f)
		add(t, h, f)
		got := Read(h, 100).Get(f.Run)
		if (got != nil) != c.stored {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		if got == nil {
			continue
		}
		if got.CutTexts != c.texts || got.CutInputs != c.inputs || got.Workflow != f.Workflow || got.Status != f.Status || !strings.HasPrefix(f.Error, got.Error) || !strings.HasPrefix(f.Description, got.Description) {
			t.Errorf("%s: %+v", name, got)
		}
		if name != "inputs" && (string(got.Digests) != c.digests || string(got.Inputs) != c.short) {
			t.Errorf("%s: %s %s", name, got.Digests, got.Inputs)
		}
	}
}

// TestManyWriters: runs that end while others rewrite the index are all in it.
func TestManyWriters(t *testing.T) {
	h := newHome(t)
	const runs, writers = 50, 8
	var busy sync.WaitGroup
	for w := range writers {
		busy.Go(func() {
			for n := range runs {
				for Append(h, run(w*runs+n)) != nil { // it waited too long
					t.Log("again")
				}
			}
		})
	}
	for range 2 {
		busy.Go(func() {
			for range runs {
				_ = Read(h, runs*writers).Update([]*Facts{run(3)}, all, true)
			}
		})
	}
	busy.Wait()
	x, missing := Read(h, runs*writers), 0
	for n := range runs * writers {
		if x.Get(run(n).Run) == nil {
			missing++
		}
	}
	if missing > 0 {
		t.Errorf("%d of %d lines are missing", missing, runs*writers)
	}
	if left, _ := filepath.Glob(h.Path("runs", ".index?*")); len(left) > 0 {
		t.Errorf("files are left: %q", left)
	}
}

// TestAReplacedFileOfTheSameNumber: file systems give the number of a removed file to the next one, which has other lines.
func TestAReplacedFileOfTheSameNumber(t *testing.T) {
	h := newHome(t)
	add(t, h, run(1))
	x := Read(h, 3)
	if err := os.Truncate(h.Path(folder, name), 0); err != nil {
		t.Fatal(err)
	}
	add(t, h, run(2))
	if err := x.Update([]*Facts{run(3)}, all, true); err != nil {
		t.Fatal(err)
	}
	got := Read(h, 3)
	for n := 1; n <= 3; n++ {
		if has := got.Has(run(n).Run); has != (n > 1) {
			t.Errorf("%d: %t", n, has)
		}
	}
}

// TestOneHolderDoesNotBlock: a process that was stopped while it wrote does not stop others.
func TestOneHolderDoesNotBlock(t *testing.T) {
	h := newHome(t)
	add(t, h, run(1))
	_ = locked(h, 0, func(*os.File, os.FileInfo) error { // an append that waited for it would wait for ever
		if err := Append(h, run(2)); err == nil {
			t.Error("a locked file was written")
		}
		return nil
	})
	if x := Read(h, 2); x.Get(run(1).Run) == nil || x.Get(run(2).Run) != nil {
		t.Error("a locked file was written")
	}
}

// TestRunsThatAreGone: lines of runs that do not exist leave the index.
func TestRunsThatAreGone(t *testing.T) {
	h := newHome(t)
	for n := range 1000 {
		add(t, h, run(n))
	}
	exists := func(id string) bool { return id < run(100).Run }
	if err := Read(h, 100).Update(nil, exists, false); err != nil {
		t.Error(err)
	}
	x := Read(h, 100)
	for n := range 1000 {
		if got := x.Get(run(n).Run); (got != nil) != (n < 100) {
			t.Errorf("%d: %+v", n, got)
		}
	}
}

// FuzzIndex: no content of the file makes reading it fail.
func FuzzIndex(f *testing.F) {
	line := run(1).encode()
	f.Add(line)
	f.Add(line + line[:30] + "\n" + line)
	f.Add("\x00\n{}\n" + head)
	f.Fuzz(func(t *testing.T, text string) {
		x := &Index{lines: map[string]string{}}
		if n := x.add(text); n < 0 || n > int64(len(text)) {
			t.Fatal(n)
		}
		for id := range x.lines {
			if got := x.Get(id); got != nil && got.Run != id {
				t.Errorf("%q: %+v", id, got)
			}
		}
		if got, ok := parse(text); ok { // what is called with a right checksum only
			again := got.encode()
			if _, ok := runOf(again); again != "" && !ok {
				t.Errorf("%q", again)
			}
		}
	})
}
