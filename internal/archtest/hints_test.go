package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestHintsForEveryReaderNameNoCommand finds suggestions that a client of pflow-serve cannot follow: those for every reader must not
// name a command of the suite, nor a tool; steps do that.
func TestHintsForEveryReaderNameNoCommand(t *testing.T) {
	command := regexp.MustCompile(`\bpflow-(lib|exec|sync|serve) [a-z-]|\b(browse_components|list_library|describe_workflow|save_to_library|run_(wait|resume|cancel|status|logs)|list_runs|[a-z]+_server)\b`)
	seen := map[string]int{}
	for _, root := range []string{"../../cmd", "../../pkg"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				method, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || len(call.Args) == 0 {
					return true
				}
				text, ok := call.Args[0].(*ast.BasicLit)
				if !ok {
					return true
				}
				hint, err := strconv.Unquote(text.Value)
				if err != nil {
					return true
				}
				seen[method.Sel.Name]++
				if method.Sel.Name == "Suggest" && command.MatchString(hint) {
					t.Errorf("%s: this hint is for every reader and names a command or tool, want a step: %s", set.Position(n.Pos()), hint)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen["Suggest"] < 100 || seen["ByPerson"] < 10 {
		t.Errorf("only %d suggestions and %d steps of persons were found", seen["Suggest"], seen["ByPerson"])
	}
}
