package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
)

// What a scratch holds can be read back by its run only, and is gone when the run is closed.
func TestScratch(t *testing.T) {
	r := create(t, tempHome(t))
	if err := r.Append(&event.Event{Event: event.RunStarted}); err != nil {
		t.Fatal(err)
	}
	const text = "the same text in each of them, "
	var all []event.Scratch
	for range 3 {
		s, err := r.NewScratch()
		if err != nil {
			t.Fatal(err)
		}
		for range 10_000 {
			if _, err := s.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	for _, size := range []int{0, 5, 10_000 * len(text)} {
		if got, err := all[1].Content(size); err != nil || string(got) != strings.Repeat(text, 10_000)[:size] {
			t.Errorf("%d of %d bytes, %v", len(got), size, err)
		}
	}
	if _, err := all[1].Content(10_000*len(text) + 1); err == nil {
		t.Error("it has more than was written")
	}
	files, _ := filepath.Glob(filepath.Join(r.Dir(), scratchDir, "*"))
	seen := map[string]bool{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || len(content) != 10_000*len(text) || bytes.Contains(content, []byte("same")) || seen[string(content)] {
			t.Errorf("%s: %d bytes that can be read or are those of another, %v", file, len(content), err)
		}
		seen[string(content)] = true
	}
	if all[0].Discard(); len(files) != 3 {
		t.Errorf("%d files", len(files))
	}
	if left, _ := filepath.Glob(filepath.Join(r.Dir(), scratchDir, "*")); len(left) != 2 {
		t.Errorf("%d files after one was discarded", len(left))
	}
	r.Close()
	if _, err := os.Stat(filepath.Join(r.Dir(), scratchDir)); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
}

// What a killed process leaves is removed with the next resume of its run.
func TestScratchOfAKilledRun(t *testing.T) {
	h := tempHome(t)
	r := create(t, h)
	add(t, r, &event.Event{Event: event.RunStarted})
	r.Close()
	left := filepath.Join(r.Dir(), scratchDir)
	if err := os.MkdirAll(filepath.Join(left, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	release, err := find(t, h, r.ID).Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if exists(left) {
		t.Error("it is left")
	}
}
