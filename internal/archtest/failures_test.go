package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/golden"
)

// TestFailuresHaveWords counts, package by package, the failures of tests that give a value without words: t.Error(got). Who reads such
// a failure learns neither what it is nor what was expected. A new one is refused, with -update too, which records that there are fewer.
func TestFailuresHaveWords(t *testing.T) {
	wordless, last := map[string]int{}, map[string]token.Position{}
	for _, folder := range []string{"cmd", "docs", "internal", "pkg", "scripts", "test"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.Name() == "node_modules":
				return fs.SkipDir
			case !strings.HasSuffix(path, "_test.go"):
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && isWordless(call) {
					name, _ := filepath.Rel(root, filepath.Dir(path))
					wordless[name]++
					last[name] = set.Position(call.Pos())
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const file = "testdata/wordless"
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]int{}
	for line := range strings.Lines(string(recorded)) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		allowed[name], _ = strconv.Atoi(count)
	}
	var record strings.Builder
	for _, name := range slices.Sorted(maps.Keys(wordless)) {
		fmt.Fprintf(&record, "%s %d\n", name, wordless[name])
		if wordless[name] > allowed[name] {
			t.Errorf("%s has %d failures without words, %d were there; the last: %s; write t.Errorf(\"the status is %%d, want %%d\", got, want)", name, wordless[name], allowed[name], last[name])
		}
	}
	if !t.Failed() {
		golden.Compare(t, file, record.String())
	}
}

// isWordless reports whether a call is x.Error(y) or x.Fatal(y), and y neither has a text literal nor is an error.
func isWordless(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 || method.Sel.Name != "Error" && method.Sel.Name != "Fatal" {
		return false
	}
	words := false
	for _, arg := range call.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				words = words || n.Kind == token.STRING
			case *ast.Ident:
				words = words || strings.Contains(strings.ToLower(n.Name), "err") || n.Name == "fault"
			}
			return !words
		})
	}
	return !words
}
