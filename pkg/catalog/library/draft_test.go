package library

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

const helloInMarkdown = "# Hello\n\nSay hello.\n\n## Steps\n\n### a\n\nSay it.\n\n- type: echo\n"

// tree returns the texts of the regular files in a folder of the home, by their paths below it.
func tree(t *testing.T, h *home.Home, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(h.Path(folder), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(h.Path(folder), path)
		files[rel] = string(b)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

func TestWriteDraft(t *testing.T) {
	for name, tt := range map[string]struct {
		files            map[string]string // in workflows/
		text             string
		want             map[string]string
		replaced, hidden bool
	}{
		"new JSON":              {nil, hello, map[string]string{"d.json": hello}, false, false},
		"new Markdown":          {nil, helloInMarkdown, map[string]string{"d.pflow.md": helloInMarkdown}, false, false},
		"after a mark":          {nil, "\xef\xbb\xbf" + helloInMarkdown, map[string]string{"d.pflow.md": "\xef\xbb\xbf" + helloInMarkdown}, false, false},
		"faulty":                {nil, `{"nodes": [`, map[string]string{"d.json": `{"nodes": [`}, false, false},
		"of neither form":       {nil, "say hello", map[string]string{"d.json": "say hello"}, false, false},
		"not UTF-8":             {nil, "# \xff", map[string]string{"d.pflow.md": "# \xff"}, false, false},
		"the same form":         {map[string]string{"d.json": "{}"}, hello, map[string]string{"d.json": hello}, true, false},
		"JSON for Markdown":     {map[string]string{"d.pflow.md": helloInMarkdown}, hello, map[string]string{"d.json": hello}, true, false},
		"Markdown for JSON":     {map[string]string{"d.json": hello}, helloInMarkdown, map[string]string{"d.pflow.md": helloInMarkdown}, true, false},
		"in a folder":           {map[string]string{"d/d.json": hello, "d/x.sh": "x"}, "{ }", map[string]string{"d/d.json": "{ }", "d/x.sh": "x"}, true, false},
		"other form, in folder": {map[string]string{"d/d.json": hello, "d/x.sh": "x"}, helloInMarkdown, map[string]string{"d/d.pflow.md": helloInMarkdown, "d/x.sh": "x"}, true, false},
		"hidden":                {map[string]string{"../library/d.json": hello}, "{}", map[string]string{"d.json": "{}"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range tt.files {
				files["workflows/"+name] = text
			}
			l, h := open(t, files)
			w, err := l.Write(t.Context(), "d", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, tree(t, h, "workflows")); d != "" {
				t.Error(d)
			}
			if w.Replaced != tt.replaced || w.Hidden != tt.hidden || w.Saved || w.Name != "d" {
				t.Errorf("%+v", w)
			}
			if at := strings.TrimPrefix(w.HomePath(), "workflows/"); tt.want[at] != tt.text || (w.Form() == "markdown") != strings.HasSuffix(at, ".md") {
				t.Errorf("it is at %s with the form %s", w.HomePath(), w.Form())
			}
			if got, err := w.Source(); err != nil || string(got) != tt.text {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestWriteDraftRemovesLeftovers: the temporary files of killed writers of this draft go, other files stay.
func TestWriteDraftRemovesLeftovers(t *testing.T) {
	l, h := open(t, map[string]string{"workflows/.d.json123": "x", "workflows/.d.json": "x", "workflows/.e.json123": "x", "workflows/d.json": "{}"})
	if _, err := l.Write(t.Context(), "d", []byte(hello)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{".d.json": "x", ".e.json123": "x", "d.json": hello}, tree(t, h, "workflows")); d != "" {
		t.Error(d)
	}
}

func TestWriteDraftRefuses(t *testing.T) {
	outside := t.TempDir()
	files := map[string]string{"workflows/d.json": hello, "workflows/both.json": hello, "workflows/both.pflow.md": helloInMarkdown}
	for _, tt := range []struct {
		name, text string
		want       fault.Type
	}{
		{"d", "", fault.Usage},
		{"d", " \n\t", fault.Usage},
		{"both", hello, fault.Conflict},
		{"../d", hello, fault.Security},
		{"/etc/passwd", hello, fault.Security},
		{"skill", hello, fault.Validation},
		{"D", hello, fault.Validation},
		{"link", hello, fault.Security},
		{"folder", hello, fault.Security},
	} {
		l, h := open(t, files)
		if err := errors.Join(os.Symlink(filepath.Join(outside, "new.json"), h.Path("workflows", "link.json")), os.Symlink(outside, h.Path("workflows", "folder"))); err != nil {
			t.Fatal(err)
		}
		before := func() []string { entries, _ := os.ReadDir(h.Path("workflows")); return namesOf(entries) }()
		_, err := l.Write(t.Context(), tt.name, []byte(tt.text))
		if f := fault.From(err); f == nil || f.Type != tt.want || strings.Contains(f.Error(), outside) {
			t.Errorf("%s: %+v", tt.name, f)
		}
		entries, _ := os.ReadDir(h.Path("workflows"))
		if got := namesOf(entries); !slices.Equal(got, before) {
			t.Errorf("%s: the folder has %q, not %q", tt.name, got, before)
		}
		if got := tree(t, h, "workflows")["d.json"]; got != hello {
			t.Errorf("%s: the other draft is %q", tt.name, got)
		}
		if entries, _ := os.ReadDir(outside); len(entries) > 0 {
			t.Errorf("%s: written outside: %q", tt.name, namesOf(entries))
		}
	}
}

func namesOf(entries []os.DirEntry) (names []string) {
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestADraftIsWhole: whoever reads a draft while it is replaced, by either form, reads one text or the other.
func TestADraftIsWhole(t *testing.T) {
	l, _ := open(t, map[string]string{"workflows/d.json": hello})
	done := make(chan error)
	go func() {
		var err error
		for i := 0; i < 200 && err == nil; i++ {
			_, err = l.Write(t.Context(), "d", []byte([]string{helloInMarkdown, hello}[i%2]))
		}
		done <- err
	}()
	for reads := 0; ; reads++ {
		select {
		case err := <-done:
			if err != nil || reads == 0 {
				t.Errorf("after %d reads: %v", reads, err)
			}
			return
		default:
		}
		draft, err := l.Find("d")
		if err != nil {
			t.Fatal(err)
		}
		if f, err := draft.Load(); err != nil || string(f.Source) != hello && string(f.Source) != helloInMarkdown {
			t.Fatalf("%+v, %v", f, err)
		}
	}
}

func TestRemoveDraft(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "link.json"), []byte(hello), 0o600); err != nil {
		t.Fatal(err)
	}
	l, h := open(t, map[string]string{
		"workflows/d.json": hello, "library/d.json": hello, "library/saved.json": hello, "stats/d.json": "{}",
		"workflows/own/own.json": hello, "workflows/full/full.json": hello, "workflows/full/x.sh": "x",
	})
	if err := os.Symlink(filepath.Join(outside, "link.json"), h.Path("workflows", "link.json")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d", "own", "full", "link"} {
		if e, err := l.RemoveDraft(t.Context(), name, ""); err != nil || e.Name != name || e.Saved {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	for name, want := range map[string]fault.Type{"d": fault.NotFound, "saved": fault.NotFound, "../d": fault.Security, "nothing": fault.NotFound} {
		if _, err := l.RemoveDraft(t.Context(), name, ""); fault.From(err) == nil || fault.From(err).Type != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d := cmp.Diff(map[string]string{"full/x.sh": "x"}, tree(t, h, "workflows")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]string{"d.json": hello, "saved.json": hello}, tree(t, h, "library")); d != "" {
		t.Error(d)
	}
	if tree(t, h, "stats")["d.json"] == "" || tree(t, &home.Home{}, outside)["link.json"] != hello {
		t.Error("something else was removed")
	}
	if _, err := os.Stat(h.Path("workflows", "own")); !os.IsNotExist(err) {
		t.Errorf("the empty folder of a draft is left: %v", err)
	}
}

// TestADraftInBothForms: nothing changes it before one of the files was deleted by its form.
func TestADraftInBothForms(t *testing.T) {
	l, h := open(t, map[string]string{"workflows/d.json": hello, "workflows/d.pflow.md": helloInMarkdown, "stats/drafts/d.json": "{}"})
	for form, text := range map[string]string{"json": hello, "markdown": helloInMarkdown} {
		e, err := l.DraftOf("d", form)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Source(); err != nil || string(got) != text || e.Form() != form {
			t.Errorf("%s: %q, %v", form, got, err)
		}
	}
	if _, err := l.RemoveDraft(t.Context(), "d", ""); fault.From(err) == nil || fault.From(err).Type != fault.Conflict {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		form string
		want map[string]string
	}{{"json", map[string]string{"d.pflow.md": helloInMarkdown, "drafts/d.json": "{}"}}, {"markdown", map[string]string{}}} {
		if e, err := l.RemoveDraft(t.Context(), "d", c.form); err != nil || e.Form() != c.form {
			t.Errorf("%s: %+v, %v", c.form, e, err)
		}
		left := tree(t, h, "workflows")
		maps.Copy(left, tree(t, h, "stats"))
		if d := cmp.Diff(c.want, left); d != "" {
			t.Errorf("%s: %s", c.form, d)
		}
		if _, err := l.RemoveDraft(t.Context(), "d", c.form); fault.From(err) == nil || fault.From(err).Type != fault.NotFound {
			t.Errorf("%s again: %v", c.form, err)
		}
	}
}

// TestToolsHearWhatToolsDo: of a name without a draft.
func TestToolsHearWhatToolsDo(t *testing.T) {
	l, _ := open(t, map[string]string{"library/kept.json": hello})
	for name, want := range map[string]string{"kept": "pflow://workflows/kept", "new": "write_draft"} {
		_, err := l.Draft(name)
		f := fault.From(err)
		if f == nil || f.Type != fault.NotFound || strings.Contains(strings.Join(f.Suggestions, "\n"), want) {
			t.Fatalf("%s: got %+v, want not_found", name, f)
		}
		if f.Address(fault.ToolsOf([]string{"drafts"})); !strings.Contains(strings.Join(f.Suggestions, "\n"), want) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestAFileIsNotADraft: the name of a file, given for a draft, is refused with the name that the draft would have.
func TestAFileIsNotADraft(t *testing.T) {
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	for file, draft := range map[string]string{"disk.json": "disk", "disk.pflow.md": "disk", "Disk.json": "", "disk.md": ""} {
		_, err := Open(h).Draft(file)
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok || f.Type != fault.Validation {
			t.Fatalf("%s: %v", file, err)
		}
		if tells := slices.ContainsFunc(f.Suggestions, func(s string) bool { return strings.HasSuffix(s, "use "+draft) }); tells != (draft != "") {
			t.Errorf("%s: %q", file, f.Suggestions)
		}
	}
}
