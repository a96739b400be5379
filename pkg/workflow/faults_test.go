package workflow

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pflow-suite/pflow/pkg/fault"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestFaults compares the faults of broken files with the texts beside them.
func TestFaults(t *testing.T) {
	for _, name := range []string{"testdata/json_faults.txtar", "testdata/markdown_faults.txtar"} {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		got := &txtar.Archive{Comment: archive.Comment}
		for _, file := range archive.Files {
			if source, ok := strings.CutSuffix(file.Name, ".want"); ok {
				want[source] = string(file.Data)
			}
		}
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, ".want") {
				continue
			}
			said := reported(t, file.Name, file.Data)
			got.Files = append(got.Files, file, txtar.File{Name: file.Name + ".want", Data: []byte(said)})
			if !*update && said != want[file.Name] {
				t.Errorf("%s has the faults\n%s\nwant\n%s", file.Name, said, want[file.Name])
			}
		}
		if *update {
			if err := os.WriteFile(name, txtar.Format(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// reported returns the faults of a file as text.
func reported(t *testing.T, name string, source []byte) string {
	t.Helper()
	_, err := Parse(name, bytes.TrimSuffix(source, []byte("\n")))
	if err == nil {
		t.Errorf("%s has no fault", name)
		return ""
	}
	f := fault.From(err)
	all := f.Errors
	if len(all) == 0 {
		all = []*fault.Fault{f}
	}
	var b strings.Builder
	for _, f := range all {
		if f.Line == 0 || f.Column == 0 || f.File != name {
			t.Errorf("%s: no place for %q", name, f.Message)
		}
		fmt.Fprintf(&b, "%d:%d: %s", f.Line, f.Column, f.Message)
		if f.Path != "" {
			fmt.Fprintf(&b, " (%s)", f.Path)
		}
		b.WriteByte('\n')
		if line, ok := f.Details["text"]; ok {
			fmt.Fprintf(&b, "    %s\n    %s\n", line, f.Details["mark"])
		}
		for _, s := range f.Suggestions {
			b.WriteString("  - " + s + "\n")
		}
		if len(f.Available) > 0 {
			b.WriteString("  one of " + strings.Join(f.Available, ", ") + "\n")
		}
	}
	return b.String()
}
