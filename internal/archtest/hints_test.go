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
// name a command of the suite, and those for tools must say that a person runs it. What a tool of pflow-serve can do too, such as
// sync_server, names that tool.
func TestHintsForEveryReaderNameNoCommand(t *testing.T) {
	command := regexp.MustCompile(`\bpflow-(lib|exec|sync|serve) [a-z-]`)
	person := regexp.MustCompile(`(?i)\ba person\b`)
	tools := map[string]*regexp.Regexp{"sync_server": regexp.MustCompile(`pflow-sync sync\b`)}
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
				switch {
				case method.Sel.Name == "Suggest" && command.MatchString(hint):
					t.Errorf("%s: this hint is for every reader and names a command; use SuggestCommand and SuggestTool: %s", set.Position(n.Pos()), hint)
				case method.Sel.Name == "SuggestTool" && command.MatchString(hint) && !person.MatchString(hint):
					t.Errorf("%s: this hint is for a reader with tools and names a command without saying that a person runs it: %s", set.Position(n.Pos()), hint)
				}
				for tool, command := range tools {
					if method.Sel.Name == "SuggestTool" && command.MatchString(hint) && !strings.Contains(hint, tool) {
						t.Errorf("%s: this hint is for a reader with tools and does not name the tool %s: %s", set.Position(n.Pos()), tool, hint)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen["Suggest"] < 100 || seen["SuggestCommand"] < 30 || seen["SuggestTool"] < 20 {
		t.Errorf("only %d, %d and %d suggestions were found", seen["Suggest"], seen["SuggestCommand"], seen["SuggestTool"])
	}
}
