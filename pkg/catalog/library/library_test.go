package library

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/reader"
)

const hello = `{"description": "Says hello", "nodes": [{"id": "a", "type": "echo"}]}`

// open returns the library of a new home with the given files, by their paths.
func open(t *testing.T, files map[string]string) (*Library, *home.Home) {
	t.Helper()
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(h.Path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(h.Path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Open(h), h
}

func TestFind(t *testing.T) {
	l, _ := open(t, map[string]string{"workflows/both.json": hello, "library/both.json": hello, "workflows/draft.json": hello, "library/saved.json": hello})
	for name, want := range map[string]Entry{
		"both":  {Name: "both", Saved: true, Hidden: true},
		"draft": {Name: "draft"},
		"saved": {Name: "saved", Saved: true},
	} {
		got, err := l.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if got.Name != want.Name || got.Saved != want.Saved || got.Hidden != want.Hidden {
			t.Errorf("Find(%s) = %+v", name, got)
		}
		if f, err := got.Load(); err != nil || f.Workflow.Description != "Says hello" {
			t.Errorf("Load: %v %v", f, err)
		}
	}
	_, err := l.Find("drft")
	f := fault.From(err)
	if f == nil || f.Type != fault.NotFound || len(f.Suggestions) == 0 ||
		f.Suggestions[0] != `Did you mean "draft"?` || !cmp.Equal(f.Available, []string{"both", "draft", "saved"}) {
		t.Errorf("%+v", f)
	}
}

func TestAtMostTwentyNamesAreOffered(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("library/w%02d.json", i)] = hello
	}
	l, _ := open(t, files)
	_, err := l.Find("nothing")
	if f := fault.From(err); len(f.Available) != 20 || f.Available[0] != "w00" || f.AvailableTotal != 30 || len(f.Next) != 1 || f.Next[0].Do != fault.DoSearch {
		t.Errorf("%+v", f)
	}
}

// readFile reads a file for Library.Open.
func readFile(name string, _ int64) ([]byte, error) { return os.ReadFile(name) }

func TestNamesThatArePathsAreRefused(t *testing.T) {
	l, h := open(t, map[string]string{"secret.json": hello, "workflows/ok.json": hello})
	for _, name := range []string{"../secret", "/etc/passwd", "a/b", `a\b`, "..", "x\x00", "x\ny", h.Path("secret")} {
		for way, try := range map[string]func() error{
			"find":      func() error { _, err := l.Find(name); return err },
			"open":      func() error { _, _, err := l.Open(name, true, "", readFile); return err },
			"save from": func() error { _, err := l.Save(t.Context(), name, "ok", "", true); return err },
			"save to":   func() error { _, err := l.Save(t.Context(), "ok", name, "", true); return err },
			"remove":    func() error { _, err := l.Remove(t.Context(), name); return err },
			"stats":     func() error { _, err := (&Entry{Name: name, Saved: true, lib: l}).Statistics(); return err },
			"forget":    func() error { return (&Entry{Name: name, Saved: true, lib: l}).forgetRuns() },
		} {
			f := fault.From(try())
			if f == nil || f.Type != fault.Security || strings.Contains(f.Message, h.Dir()) {
				t.Errorf("%s %q: %+v", way, name, f)
			}
		}
	}
	if _, err := l.Find("ok"); err != nil {
		t.Error("a refused name changed something:", err)
	}
}

func TestOpen(t *testing.T) {
	l, _ := open(t, map[string]string{"workflows/named.json": hello})
	t.Chdir(t.TempDir())
	for _, name := range []string{"file.json", "named", "plain", "named.json", "test"} {
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(hello, "hello", name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string, _ int64) ([]byte, error) {
		if name == "-" {
			return []byte(strings.ReplaceAll(hello, "hello", "stdin")), nil
		}
		return os.ReadFile(name)
	}
	for _, tt := range []struct {
		ref         string
		nameOnly    bool
		description string // "" for an error
	}{
		{"file.json", false, "Says file.json"},
		{"./file.json", false, "Says file.json"},
		{"./plain", false, "Says plain"},
		{"-", false, "Says stdin"},
		{"named", false, "Says hello"},
		{"named.json", false, "Says named.json"},
		{"plain", false, "Says plain"},
		{"test", false, "Says test"}, // no workflow may be called so, but a file may
		{"named", true, "Says hello"},
		{"plain", true, ""},
		{"-", true, ""},
		{"file.json", true, ""},
		{"missing", false, ""},
		{"missing.json", false, ""},
		{".", false, ""},
	} {
		file, entry, err := l.Open(tt.ref, tt.nameOnly, "", read)
		if tt.description == "" {
			if err == nil {
				t.Errorf("Open(%q, %v) is no error", tt.ref, tt.nameOnly)
			}
			continue
		}
		if err != nil || file.Workflow.Description != tt.description || (entry != nil) != (tt.description == "Says hello") {
			t.Errorf("Open(%q, %v) = %+v, %+v, %v", tt.ref, tt.nameOnly, file, entry, err)
		}
	}
}

func TestABrokenWorkflowIsNamed(t *testing.T) {
	l, h := open(t, map[string]string{"workflows/bad.json": "{\n  oops\n}"})
	_, _, err := l.Open("bad", true, "", readFile)
	if f := fault.From(err); f == nil || f.Type != fault.Validation || f.Line != 2 || f.File != "bad" || strings.Contains(f.Message, h.Dir()) {
		t.Errorf("%+v", f)
	}
	e, err := l.Find("bad")
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(e.Path)
	if _, err := e.Source(); fault.From(err).Type != fault.NotFound {
		t.Error(err)
	}
}

func TestList(t *testing.T) {
	describe := func(s string) string { return strings.Replace(hello, "Says hello", s, 1) }
	l, _ := open(t, map[string]string{
		"library/pr-analyzer.json": describe("Analyzes PRs"), "library/zip.json": describe("Packs a folder"), "library/bad.json": "{",
		"library/Odd_Name.json": hello, "library/.zip.json123": "x", "library/notes.txt": "x", "library/folder.json/x": "x",
		"workflows/zip.json": describe("A new zip"), "workflows/idea.json": describe("For PRs"),
	})
	for _, tt := range []struct {
		drafts  bool
		pattern string
		want    []string
	}{
		{false, "", []string{"Odd_Name!", "bad!", "pr-analyzer", "zip"}},
		{true, "", []string{"Odd_Name!", "bad!", "idea", "pr-analyzer", "zip", "zip hidden"}},
		{true, "prs", []string{"idea", "pr-analyzer"}},
		{true, "PRs analyzer", []string{"pr-analyzer"}},
		{false, "*z*", []string{"pr-analyzer", "zip"}},
		{false, "z?p", []string{"zip"}},
		{false, "packs", []string{"zip"}},
		{false, "nothing", nil},
	} {
		got, err := l.List(tt.drafts, tt.pattern)
		if err != nil || got == nil {
			t.Fatal(got, err)
		}
		var names []string
		for _, e := range got {
			name := e.Name
			if e.Error != nil {
				name += "!"
			}
			if e.Hidden {
				name += " hidden"
			}
			names = append(names, name)
		}
		if d := cmp.Diff(tt.want, names); d != "" {
			t.Errorf("List(%v, %q): %s", tt.drafts, tt.pattern, d)
		}
	}
	if _, err := l.List(false, "[*"); fault.From(err).Type != fault.Usage {
		t.Error(err)
	}
	empty, _ := open(t, nil)
	if got, err := empty.List(true, ""); len(got) != 0 || err != nil {
		t.Error(got, err)
	}
}

func TestRemove(t *testing.T) {
	l, h := open(t, map[string]string{"library/a.json": hello, "workflows/a.json": hello, "stats/a.json": `{"runs":3}`, "stats/b.json": `{"runs":1}`})
	e, err := l.Remove(t.Context(), "a")
	if err != nil || !e.Saved {
		t.Fatal(e, err)
	}
	if s, err := (&Entry{Name: "a", Saved: true, lib: l}).Statistics(); s.Stats != (reader.Stats{}) || err != nil {
		t.Error("the statistics are left:", s, err)
	}
	if e, err := l.Find("a"); err != nil || e.Saved || e.Hidden {
		t.Errorf("the draft is gone too, or hidden still: %+v %v", e, err)
	}
	if e, err := l.Remove(t.Context(), "a"); err != nil || e.Saved {
		t.Error(e, err)
	}
	if _, err := l.Remove(t.Context(), "a"); fault.From(err).Type != fault.NotFound {
		t.Error(err)
	}
	if _, err := os.Stat(h.Path("stats", "b.json")); err != nil {
		t.Error(err)
	}
}
