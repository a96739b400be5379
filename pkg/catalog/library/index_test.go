package library

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/catalog/stored"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// What the index has is not read again.
func TestAnUnchangedFileIsNotReadAgain(t *testing.T) {
	l, h := open(t, map[string]string{
		"library/one.json": hello, "library/bad.json": "{", "workflows/draft.pflow.md": markdownHello,
		"library/bundle/bundle.json": `{"nodes":[{"id":"a","type":"shell","params":{"command":"cat","stdin":"./text.md"}}]}`, "library/bundle/text.md": "text",
	})
	l.leastIndexed, l.now = 1, indexed(h).now
	if _, _, err := l.Search("hello"); err != nil {
		t.Fatal(err)
	}
	x := storedIndex(h)
	if x == nil || len(x.entries) != 4 || len(x.words) == 0 {
		t.Fatalf("%+v", x)
	}
	for _, e := range x.entries {
		e.Description, e.err = "from the index", nil
	}
	if err := h.Write(x.encode(head()), 0o600, indexName); err != nil {
		t.Fatal(err)
	}
	for name, got := range descriptions(t, indexed(h)) {
		if got != "from the index" {
			t.Errorf("%s: %s", name, got)
		}
	}
	// The index of another program is not used.
	if err := h.Write(x.encode(head()+"x"), 0o600, indexName); err != nil {
		t.Fatal(err)
	}
	for name, got := range descriptions(t, indexed(h)) {
		if got == "from the index" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A file that was just written is not in the index, because a further change in the same tick of the clock leaves its stamp as it is.
func TestANewFileIsNotInTheIndex(t *testing.T) {
	l, h := open(t, map[string]string{"library/new.json": hello})
	l.leastIndexed = 1
	for _, said := range []string{"Says hello", "Says hullo", "Says hallo"} {
		if err := os.WriteFile(h.Path("library", "new.json"), []byte(strings.Replace(hello, "Says hello", said, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := descriptions(t, l); got["new"] != said {
			t.Errorf("%v, want %s", got, said)
		}
		if found, _, err := l.Search(said); err != nil || len(found) != 1 || found[0].Description != said {
			t.Errorf("%v %v", found, err)
		}
	}
	if x := storedIndex(h); x != nil {
		t.Errorf("%+v", x)
	}
}

// A library of a few workflows has no index.
func TestASmallLibraryHasNoIndex(t *testing.T) {
	l, h := open(t, map[string]string{"library/one.json": hello})
	l.now = indexed(h).now
	if _, _, err := l.Search("hello"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(h.Path(indexName)); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// An index that cannot be written, or is a link that leads out of the home, is neither read nor written.
func TestAnIndexThatCannotBeStored(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	for what, prepare := range map[string]func(path string) error{
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":   func(path string) error { return os.Symlink(outside, path) },
	} {
		_, h := open(t, map[string]string{"library/one.json": hello})
		if err := prepare(h.Path(indexName)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := descriptions(t, indexed(h)); got["one"] != "Says hello" {
				t.Errorf("%s: %v", what, got)
			}
		}
		if _, err := os.Lstat(outside); !os.IsNotExist(err) {
			t.Errorf("%s: written to %s: %v", what, outside, err)
		}
	}
}

// Readers see whole workflows while others change them and the index.
func TestReadersAndWriters(t *testing.T) {
	_, h := open(t, map[string]string{"library/kept.json": hello})
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				list, err := indexed(h).List(true, "")
				if err != nil || len(list) == 0 || !slices.ContainsFunc(list, func(w Listed) bool { return w.Name == "kept" && w.Description == "Says hello" }) {
					t.Errorf("%v %v", list, err)
					return
				}
				for _, w := range list {
					if w.Error != nil && w.Error.Type != fault.NotFound {
						t.Errorf("%s: %v", w.Name, w.Error)
					}
				}
			}
		})
	}
	for w := range 2 {
		writers.Go(func() {
			l := indexed(h)
			for i := range 15 {
				name := fmt.Sprintf("w%d-%d", w, i)
				if _, err := l.Create(t.Context(), name, []byte(hello)); err != nil {
					t.Error(err)
				}
				if _, err := l.Save(t.Context(), name, fmt.Sprintf("s%d", i%3), "Saved", true); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if d := gocmp.Diff(shown(t, listWithout(t, h, true)), func() string { list, _ := indexed(h).List(true, ""); return shown(t, list) }()); d != "" {
		t.Error(d)
	}
}

func FuzzIndex(f *testing.F) {
	created := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 7200))
	x := &index{digest: "d", words: []byte("w"), entries: map[key]*kept{
		{true, "one"}:  {Summary: Summary{"Says", "1.0.0", created, time.Time{}, []byte("{}")}, path: "one.json", on: []seen{{"one.json", home.Stamp{Size: 1, Modified: -2}}}},
		{false, "bad"}: {err: fault.New(fault.Validation, "bad").Suggest("x"), path: "bad.json", on: []seen{{"bad.json", home.Stamp{}}, {"y", home.Stamp{}}}},
	}}
	good := x.encode("h")
	f.Add(good)
	f.Add(good[:len(good)-4])
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = parseIndex(stored.Open(data, "h"))
		read := parseIndex(stored.Parse(data, "h")) // with any checksum
		if read == nil {
			return
		}
		again := parseIndex(stored.Open(read.encode("h"), "h"))
		if again == nil || len(again.entries) != len(read.entries) || again.digest != read.digest || string(again.words) != string(read.words) {
			t.Errorf("%+v is read back as %+v", read, again)
		}
	})
}
