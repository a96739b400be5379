package library

import (
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const markdownHello = "# Hello\n\nSays hello\n\n## Steps\n\n### a\n\nSay it.\n\n- type: echo\n"

func TestBothFormsAreWorkflows(t *testing.T) {
	l, h := open(t, map[string]string{
		"workflows/draft.pflow.md": "<!-- A comment -->\n" + markdownHello, "library/saved.pflow.md": markdownHello, "library/json.json": hello,
		"workflows/saved.json": hello, "library/readme.md": "# Not one", "stats/saved.json": `{"runs":3}`,
	})
	list, err := l.List(true, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name)
		if e.Error != nil || e.Description != "Says hello" {
			t.Errorf("%s: %+v %q", e.Name, e.Error, e.Description)
		}
	}
	if d := cmp.Diff([]string{"draft", "json", "saved", "saved"}, names); d != "" {
		t.Error(d)
	}
	for name, called := range map[string]string{"draft": "draft.pflow.md", "saved": "saved.pflow.md", "json": "json"} {
		file, entry, err := l.Open(name, false, "", readFile)
		if err != nil || file.Markdown != (called != name) || file.Name != called || entry.Hidden != (name == "saved") {
			t.Errorf("%s: %+v %+v %v", name, file, entry, err)
		}
	}
	if e, err := l.Remove(t.Context(), "saved"); err != nil || !e.Saved {
		t.Fatal(e, err)
	}
	for path, left := range map[string]bool{"library/saved.pflow.md": false, "workflows/saved.json": true, "stats/saved.json": false} {
		if _, err := os.Stat(h.Path(path)); (err == nil) != left {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestAPathMayBeOfEitherForm(t *testing.T) {
	l, _ := open(t, nil)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a.json": hello, "a.pflow.md": markdownHello, "a.md": markdownHello} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, entry, err := l.Open(name, false, "", readFile)
		if err != nil || entry != nil || file.Name != name || file.Workflow.Description != "Says hello" {
			t.Errorf("%s: %+v %v", name, file, err)
		}
	}
}

func TestBothFormsOfOneNameAreAConflict(t *testing.T) {
	files := map[string]string{
		"library/two.json": hello, "library/two.pflow.md": markdownHello,
		"workflows/both.json": hello, "workflows/both.pflow.md": markdownHello,
		"workflows/ok.json":  hello,
		"library/hides.json": hello, "workflows/hides.json": hello, "workflows/hides.pflow.md": markdownHello,
	}
	l, h := open(t, files)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("both", []byte(hello), 0o600); err != nil { // it does not win
		t.Fatal(err)
	}
	for way, try := range map[string]func() error{
		"find":         func() error { _, err := l.Find("two"); return err },
		"find a draft": func() error { _, err := l.Find("both"); return err },
		"open":         func() error { _, _, err := l.Open("both", false, "", readFile); return err },
		"save from":    func() error { _, err := l.Save(t.Context(), "both", "new", "", false); return err },
		"save to":      func() error { _, err := l.Save(t.Context(), "ok", "two", "", false); return err },
		"replace":      func() error { _, err := l.Save(t.Context(), "ok", "two", "", true); return err },
		"remove":       func() error { _, err := l.Remove(t.Context(), "two"); return err },
		"create":       func() error { _, err := l.Create(t.Context(), "both", []byte(hello)); return err },
	} {
		f := fault.From(try())
		if f == nil || f.Type != fault.Conflict || len(f.Suggestions) != 1 || strings.Contains(f.Message+f.Suggestions[0], h.Dir()) ||
			!strings.Contains(f.Suggestions[0], ".json or ") || !strings.Contains(f.Suggestions[0], ".pflow.md") {
			t.Errorf("%s: %+v", way, f)
		}
	}
	if e, err := l.Find("hides"); err != nil || !e.Hidden {
		t.Errorf("%+v %v", e, err)
	}
	list, err := l.List(true, "")
	conflicts := 0
	for _, e := range list {
		if e.Error != nil && e.Error.Type == fault.Conflict {
			conflicts++
		}
	}
	if err != nil || len(list) != 5 || conflicts != 3 {
		t.Errorf("%d listed, %d conflicts, %v", len(list), conflicts, err)
	}
	for path, text := range files {
		if b, err := h.Read(path); string(b) != text || err != nil {
			t.Errorf("%s was changed: %s %v", path, b, err)
		}
	}
}

func TestSaveKeepsTheForm(t *testing.T) {
	for name, tt := range map[string]struct{ before, draft, want string }{
		"a new one":     {"", "draft.pflow.md", "final.pflow.md"},
		"of one form":   {"final.pflow.md", "draft.pflow.md", "final.pflow.md"},
		"over JSON":     {"final.json", "draft.pflow.md", "final.pflow.md"},
		"over Markdown": {"final.pflow.md", "draft.json", "final.json"},
	} {
		t.Run(name, func(t *testing.T) {
			text := map[bool]string{true: markdownHello, false: hello}
			files := map[string]string{"workflows/" + tt.draft: text[strings.HasSuffix(tt.draft, "md")]}
			if tt.before != "" {
				files["library/"+tt.before] = text[strings.HasSuffix(tt.before, "md")]
			}
			l, h := open(t, files)
			if _, err := l.Save(t.Context(), "draft", "final", "", false); (err == nil) != (tt.before == "") {
				t.Fatal(err)
			}
			if tt.before != "" {
				if _, err := l.Save(t.Context(), "draft", "final", "A new one", true); err != nil {
					t.Fatal(err)
				}
			}
			e, err := l.Find("final")
			if err != nil {
				t.Fatal(err)
			}
			file, err := e.Load()
			if err != nil || e.Path != h.Path("library", tt.want) || file.Markdown != strings.HasSuffix(tt.want, "md") ||
				file.UpdatedAt.IsZero() || file.Version != firstVersion || tt.before != "" && file.Workflow.Description != "A new one" {
				t.Errorf("%+v %+v %v", e, file, err)
			}
			for _, folder := range []string{"library", "workflows"} {
				entries, err := os.ReadDir(h.Path(folder))
				if want := map[string]int{"library": 1}[folder]; len(entries) != want || err != nil {
					t.Errorf("%s has %v, %v", folder, entries, err)
				}
			}
		})
	}
}

// A reader always finds a workflow while it is replaced again and again by the other form.
func TestThereIsAlwaysOne(t *testing.T) {
	l, h := open(t, map[string]string{"library/final.json": hello, "workflows/other.json": hello})
	var done atomic.Bool
	saved := make(chan error, 1)
	go func() {
		defer done.Store(true)
		for i := range 30 {
			draft, text := h.Path("workflows", "draft.json"), hello
			if i%2 == 0 {
				draft, text = h.Path("workflows", "draft.pflow.md"), markdownHello
			}
			if err := os.WriteFile(draft, []byte(text), 0o600); err != nil {
				saved <- err
				return
			}
			if _, err := l.Save(t.Context(), "draft", "final", "", true); err != nil {
				saved <- err
				return
			}
		}
		saved <- nil
	}()
	for !done.Load() {
		e, err := Open(h).Find("final")
		if err == nil {
			_, err = e.Load()
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	if err := <-saved; err != nil {
		t.Error(err)
	}
}

func TestCreate(t *testing.T) {
	l, h := open(t, map[string]string{"library/kept.json": hello, "workflows/there.pflow.md": markdownHello})
	for name, text := range map[string]string{"one": hello, "two": markdownHello} {
		e, err := l.Create(t.Context(), name, []byte(text))
		if err != nil || e.Saved || !slices.Contains(endings, strings.TrimPrefix(e.Path, h.Path("workflows", name))) {
			t.Fatalf("%+v %v", e, err)
		}
		if got, err := e.Source(); string(got) != text || err != nil {
			t.Errorf("%s %v", got, err)
		}
	}
	for name, want := range map[string]fault.Type{
		"one": fault.AlreadyExists, "two": fault.AlreadyExists, "kept": fault.AlreadyExists, "there": fault.AlreadyExists, "test": fault.Validation, "../x": fault.Security,
	} {
		if _, err := l.Create(t.Context(), name, []byte(hello)); err == nil || fault.From(err).Type != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := l.Create(t.Context(), "bad", []byte("{")); fault.From(err).Type != fault.Validation {
		t.Error(err)
	}
	if files, err := os.ReadDir(h.Path("workflows")); len(files) != 3 || err != nil {
		t.Errorf("%v %v", files, err)
	}
}
