package workflow

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// same compares workflows in memory. It compares raw values as JSON.
var same = cmp.Options{
	cmpopts.IgnoreUnexported(Workflow{}),
	cmp.FilterValues(func(a, b json.RawMessage) bool { return true }, cmp.Comparer(func(a, b json.RawMessage) bool {
		return (a == nil) == (b == nil) && (a == nil || sameJSON(a, b))
	})),
}

// examples returns the example files by their names.
func examples(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, pattern := range []string{"testdata/examples/*.json", "testdata/examples/*.md", "../../examples/*.json", "../../examples/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = source
		}
	}
	if len(files) < 6 {
		t.Fatal("the examples are gone")
	}
	return files
}

// TestExamples compares each example in memory with the golden file beside it.
func TestExamples(t *testing.T) {
	for name, source := range examples(t) {
		f, err := Parse(name, source)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		got, err := json.MarshalIndent(f.Workflow, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		golden := name + ".golden"
		if !strings.HasPrefix(name, "testdata/") {
			continue
		}
		if *update {
			if err := os.WriteFile(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s (%v):\n%s", name, err, cmp.Diff(string(want), string(got)))
		}
	}
}

// TestExamplesInOtherForms checks that each example has the same meaning as JSON, with other line endings and, if possible,
// in Markdown.
func TestExamplesInOtherForms(t *testing.T) {
	for name, source := range examples(t) {
		f, err := Parse(name, source)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("again.json", f.JSON())
		if err != nil {
			t.Errorf("%s as JSON: %v", name, err)
			continue
		}
		if d := cmp.Diff(f.Workflow, again.Workflow, same); d != "" {
			t.Errorf("%s as JSON:\n%s", name, d)
		}
		if again.Version != f.Version || !again.CreatedAt.Equal(f.CreatedAt) || !again.UpdatedAt.Equal(f.UpdatedAt) {
			t.Errorf("%s as JSON has other metadata", name)
		}
		windows, err := Parse(name, bytes.ReplaceAll(source, []byte("\n"), []byte("\r\n")))
		if err != nil {
			t.Errorf("%s with other line ends: %v", name, err)
		} else if d := cmp.Diff(f.Workflow, windows.Workflow, same); d != "" {
			t.Errorf("%s with other line ends:\n%s", name, d)
		}
		if _, err := Parse("-", append([]byte("\xef\xbb\xbf"), source...)); err != nil {
			t.Errorf("%s from standard input: %v", name, err)
		}
	}
}
