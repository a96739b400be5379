package library

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

const echo = `{"nodes":[{"id":"a","type":"echo"}]}`

// files returns the paths of the home's workflows and of their other files, with their content.
func files(t *testing.T, h *home.Home) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, folder := range []string{"workflows", "library"} {
		root := os.DirFS(h.Path())
		err := fs.WalkDir(root, folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			b, err := fs.ReadFile(root, path)
			found[path] = string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func TestRename(t *testing.T) {
	markdown := "# Greet\n\n## Steps\n\n### say\n\nSay it.\n\n- type: echo\n"
	for name, tt := range map[string]struct{ before, after map[string]string }{
		"saved":    {map[string]string{"library/old.json": echo}, map[string]string{"library/new.json": echo}},
		"markdown": {map[string]string{"library/old.pflow.md": markdown}, map[string]string{"library/new.pflow.md": markdown}},
		"draft":    {map[string]string{"workflows/old.json": echo}, map[string]string{"workflows/new.json": echo}},
		"bundle": {map[string]string{"library/old/old.json": echo, "library/old/texts/a.sh": "echo a"},
			map[string]string{"library/new/new.json": echo, "library/new/texts/a.sh": "echo a"}},
		"draft with a folder": {map[string]string{"workflows/old/old.json": echo, "workflows/old/a.sh": "echo a"},
			map[string]string{"workflows/new/new.json": echo, "workflows/new/a.sh": "echo a"}},
		"hides a draft": {map[string]string{"library/old.json": echo, "workflows/old.json": "{}"},
			map[string]string{"library/new.json": echo, "workflows/old.json": "{}"}},
		"bundle that hides a file": {map[string]string{"library/old/old.json": echo, "library/old.json": "{}"},
			map[string]string{"library/new/new.json": echo}},
	} {
		t.Run(name, func(t *testing.T) {
			l, h := open(t, tt.before)
			e, err := l.Rename(t.Context(), "old", "new")
			if err != nil || e.Name != "new" {
				t.Fatal(e, err)
			}
			if d := cmp.Diff(tt.after, files(t, h)); d != "" {
				t.Error(d)
			}
			if file, err := e.Load(); err != nil || len(file.Workflow.Nodes) != 1 {
				t.Error(err)
			}
		})
	}
}

func TestRenameRefuses(t *testing.T) {
	there := map[string]string{
		"library/old.json": echo, "library/taken.json": "{}", "workflows/draft.json": "{}", "library/torn.json": "{", "workflows/both.json": echo, "workflows/both.pflow.md": "# x",
		"library/bundle/bundle.json": echo, "library/bundle/own.json": "{}", "library/folder/other.txt": "x",
	}
	for name, tt := range map[string]struct {
		from, to string
		typ      fault.Type
	}{
		"saved":           {"old", "taken", fault.AlreadyExists},
		"a draft":         {"old", "draft", fault.AlreadyExists},
		"a broken one":    {"old", "torn", fault.AlreadyExists},
		"itself":          {"old", "old", fault.AlreadyExists},
		"two forms":       {"old", "both", fault.Conflict},
		"of two forms":    {"both", "new", fault.Conflict},
		"a bundle's file": {"bundle", "own", fault.AlreadyExists},
		"another folder":  {"bundle", "folder", fault.AlreadyExists},
		"missing":         {"nothing", "new", fault.NotFound},
		"path":            {"old", "../new", fault.Security},
		"path of the old": {"../old", "new", fault.Security},
		"not a name":      {"old", "New Name", fault.Validation},
		"reserved":        {"old", "null", fault.Validation},
	} {
		t.Run(name, func(t *testing.T) {
			l, h := open(t, there)
			before := files(t, h)
			if _, err := l.Rename(t.Context(), tt.from, tt.to); err == nil || fault.From(err).Type != tt.typ {
				t.Errorf("%v", err)
				return
			}
			if d := cmp.Diff(before, files(t, h)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestRenameAfterAKill: a bundle that a killed program has begun to rename can be used, and renamed.
func TestRenameAfterAKill(t *testing.T) {
	l, h := open(t, map[string]string{"library/old/old.json": echo})
	if err := os.Link(h.Path("library", "old", "old.json"), h.Path("library", "old", "new.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Find("old"); err != nil {
		t.Error(err)
	}
	if _, err := l.Rename(t.Context(), "old", "new"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"library/new/new.json": echo}, files(t, h)); d != "" {
		t.Error(d)
	}
}

// TestRenameAtOnce: of several programs that give different workflows one name, one does.
func TestRenameAtOnce(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	there := map[string]string{}
	for _, name := range names {
		there["library/"+name+".json"] = strings.ReplaceAll(echo, `"a"`, `"`+name+`"`)
	}
	l, h := open(t, there)
	var programs sync.WaitGroup
	results := make([]error, len(names))
	for i, name := range names {
		programs.Go(func() { _, results[i] = l.Rename(t.Context(), name, "one") })
	}
	programs.Wait()
	done := 0
	for _, err := range results {
		if err == nil {
			done++
		} else if fault.From(err).Type != fault.AlreadyExists {
			t.Error(err)
		}
	}
	if after := files(t, h); done != 1 || len(after) != len(names) || after["library/one.json"] == "" {
		t.Errorf("%d renamed: %v", done, after)
	}
}

func TestFormerNames(t *testing.T) {
	l, h := open(t, map[string]string{"workflows/first.json": echo})
	if _, err := l.Save(t.Context(), "first", "second", "", false); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Rename(t.Context(), "second", "third"); err != nil {
		t.Fatal(err)
	}
	hint := func(name string) string {
		_, err := l.Find(name)
		f := fault.From(err)
		if f == nil || f.Type != fault.NotFound || len(f.Suggestions) == 0 {
			t.Fatal(name, err)
		}
		f.Address(fault.Shell)
		return strings.Join(f.Suggestions, "\n")
	}
	for _, name := range []string{"first", "second"} {
		if got := hint(name); !strings.Contains(got, "pflow-exec run third") || !strings.Contains(got, name) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if _, err := l.Draft("first"); !strings.Contains(fault.From(err).Suggestions[0], "third") {
		t.Error(err)
	}
	if _, err := l.Remove(t.Context(), "third"); err != nil {
		t.Fatal(err)
	}
	if got := hint("first"); strings.Contains(got, "third") {
		t.Errorf("names a removed workflow: %s", got)
	}
	for _, content := range []string{"{", `[{"from":"x","to":"../y"}]`, `[{"from":"x","to":"y"},{"from":"y","to":"x"}]`} {
		if err := h.Write([]byte(content), 0o600, "renamed.json"); err != nil {
			t.Fatal(err)
		}
		if got := hint("x"); strings.Contains(got, "y") && strings.Contains(got, "run y") {
			t.Errorf("%s: %s", content, got)
		}
	}
	for range maxFormer + 5 {
		remember(l, "x", "y", false)
	}
	for i := range maxFormer + 5 {
		remember(l, "n"+strings.Repeat("x", i%50)+strings.Repeat("y", i/50), "y", false)
	}
	if n := len(formerNames(l)); n != maxFormer {
		t.Errorf("%d names", n)
	}
	if info, err := os.Stat(h.Path("renamed.json")); errors.Is(err, fs.ErrNotExist) || info.Mode().Perm() != 0o600 {
		t.Error(err)
	}
}
