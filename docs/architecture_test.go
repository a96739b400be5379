package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/internal/archtest"
)

// TestFolders checks that the architecture page shows the folders, packages and import rules that internal/archtest enforces.
func TestFolders(t *testing.T) {
	page, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	type row struct{ folder, name, imports string }
	var listed, want []row
	for _, m := range regexp.MustCompile("(?m)^\\| (?:`([a-z]+)` )?\\| `([a-z/]+)` \\|.*\\| ([a-z, ]*)\\|$").FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, row{m[1], m[2], strings.TrimSpace(m[3])})
	}
	for _, folder := range archtest.Folders {
		for i, name := range folder.Packages {
			r := row{name: name}
			if i == 0 {
				r.folder, r.imports = folder.Name, strings.Join(folder.MayImport, ", ")
			}
			want = append(want, r)
		}
	}
	if d := cmp.Diff(want, listed, cmp.AllowUnexported(row{})); d != "" {
		t.Errorf("architecture.md differs from internal/archtest/rules.go (-rules +page):\n%s", d)
	}
}
