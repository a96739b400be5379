package library

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/catalog/search"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// indexed returns a library whose lists have an index at any size, and which takes all files for old.
func indexed(h *home.Home) *Library {
	l := Open(h)
	l.leastIndexed = 1
	l.now = func() time.Time { return time.Now().Add(time.Hour) }
	return l
}

// listWithout returns what List does, without an index.
func listWithout(t fataler, h *home.Home, drafts bool) []Listed {
	l := Open(h)
	var list []Listed
	saved := l.Names(true)
	for _, in := range []bool{true, false} {
		if !in && !drafts {
			break
		}
		for _, name := range l.Names(in) {
			w := Listed{Entry: &Entry{Name: name, Saved: in, lib: l}}
			err := home.CheckName("workflow", name)
			if err == nil {
				var entry *Entry
				if entry, err = l.at(in, name); entry != nil {
					w.Entry = entry
					var file *workflow.File
					if file, err = entry.Load(); err == nil {
						w.Summary, err = summaryOf(name, file)
					}
				} else if err == nil {
					err = gone(name)
				}
			}
			w.Error = fault.From(err)
			w.Hidden = !in && slices.Contains(saved, name)
			list = append(list, w)
		}
	}
	slices.SortStableFunc(list, func(a, b Listed) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

type fataler interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// shown returns a list as text.
func shown(t fataler, list []Listed) string {
	var b strings.Builder
	for _, w := range list {
		raw, err := json.Marshal([]any{w.Name, w.Saved, w.Hidden, w.Path, w.Description, w.Version, w.CreatedAt, w.UpdatedAt, w.Error})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", raw)
	}
	return b.String()
}

// compareLists fails if the index changes what lists and searches return.
func compareLists(t fataler, h *home.Home, after string) {
	for _, drafts := range []bool{false, true} {
		got, err := indexed(h).List(drafts, "")
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(shown(t, listWithout(t, h, drafts)), shown(t, got)); d != "" {
			t.Fatalf("after %s, with drafts %v: %s", after, drafts, d)
		}
	}
	list := slices.DeleteFunc(listWithout(t, h, true), func(w Listed) bool { return w.Hidden || w.Error != nil })
	var words search.Builder
	for _, w := range list {
		words.Add(search.Document{Name: w.Name, Description: w.Description})
	}
	var want []Listed
	for _, hit := range search.Search("one file", func(_, doc int) string { return list[doc].Name }, words.Index()) {
		want = append(want, list[hit.Document])
	}
	got, _, err := indexed(h).Search("one file")
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(shown(t, want), shown(t, got)); d != "" {
		t.Fatalf("after %s, a search: %s", after, d)
	}
}

// tickOf waits until the clock of the file system shows a later time than before.
func tickOf(t fataler, dir string) {
	probe := filepath.Join(dir, "probe")
	var first int64
	for {
		if err := os.WriteFile(probe, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(probe)
		if err != nil {
			t.Fatal(err)
		}
		if now := info.ModTime().UnixNano(); first == 0 {
			first = now
		} else if now > first {
			return
		}
		if err := os.Remove(probe); err != nil {
			t.Fatal(err)
		}
	}
}

// descriptions returns what a list shows, by name.
func descriptions(t *testing.T, l *Library) map[string]string {
	t.Helper()
	list, err := l.List(true, "")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, w := range list {
		if shown[w.Name] = w.Description; w.Error != nil {
			shown[w.Name] = string(w.Error.Type)
		}
	}
	return shown
}

// A change of what a workflow refers to shows in the list like a change of the workflow.
func TestWhatAWorkflowRefersTo(t *testing.T) {
	const referring = `{"description":"Fine","nodes":[{"id":"a","type":"shell","params":{"command":"./run.sh","stdin":"./sub/text.md"}}]}`
	outside := t.TempDir()
	for what, tt := range map[string]struct {
		change func(h *home.Home) error
		want   string
	}{
		"nothing":         {func(*home.Home) error { return nil }, "Fine"},
		"removed":         {func(h *home.Home) error { return os.Remove(h.Path("library/w/sub/text.md")) }, "validation_error"},
		"removed folder":  {func(h *home.Home) error { return os.RemoveAll(h.Path("library/w/sub")) }, "validation_error"},
		"written":         {func(h *home.Home) error { return os.WriteFile(h.Path("library/w/sub/text.md"), []byte("\xff"), 0o600) }, "validation_error"},
		"a link":          {func(h *home.Home) error { return relink(h.Path("library/w/sub/text.md"), outside+"/text.md") }, "security_error"},
		"a linked folder": {func(h *home.Home) error { return moveOut(h.Path("library/w/sub"), outside+"/sub") }, "security_error"},
		"a linked bundle": {func(h *home.Home) error { return moveOut(h.Path("library/w"), outside+"/w") }, "security_error"},
		"another form": {func(h *home.Home) error {
			return os.WriteFile(h.Path("library/w/w.pflow.md"), []byte(markdownHello), 0o600)
		}, "conflict"},
		"behind a link": {func(h *home.Home) error { return os.Remove(h.Path("elsewhere.md")) }, "Fine"},
	} {
		_, h := open(t, map[string]string{"library/w/w.json": referring, "library/w/sub/text.md": "text", "elsewhere.md": "text",
			"library/l/l.json": strings.ReplaceAll(referring, "sub/", ""), "library/l/inner.md": "text"})
		if err := os.Symlink("../../elsewhere.md", h.Path("library/l/text.md")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := descriptions(t, indexed(h)); got["w"] != "Fine" || got["l"] != "Fine" {
				t.Fatalf("%s, before: %v", what, got)
			}
		}
		tickOf(t, h.Dir())
		if err := tt.change(h); err != nil {
			t.Fatal(err)
		}
		got := descriptions(t, indexed(h))
		if got["w"] != tt.want || (got["l"] == "Fine") != (what != "behind a link") {
			t.Errorf("%s: %v, want %s", what, got, tt.want)
		}
	}
}

// relink puts a symbolic link in the place of something else.
func relink(path, to string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.Symlink(to, path)
}

// moveOut moves a folder and puts a link to it in its place, which changes no stamp of what is in it.
func moveOut(folder, to string) error {
	if err := os.Rename(folder, to); err != nil {
		return err
	}
	return os.Symlink(to, folder)
}
