package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// TestRulesOfMCPToolsHaveATest: the tables of the page are whole, and the tests that they name are in test/suite or beside the package
// that holds the rule.
func TestRulesOfMCPToolsHaveATest(t *testing.T) {
	p := readPage(t, "mcp-tools.md")
	known := suiteTests(t)
	for _, folder := range []string{"../pkg/mcp/mcpclient", "../pkg/mcp/oauth", "../pkg/workflow/check"} {
		maps.Copy(known, testsIn(t, folder))
	}
	checkRules(t, p, map[string]numbered{
		"| rule |":         {"R", 14},
		"| criterion |":    {"C", 15},
		"| case |":         {"E", 17},
		"| part |":         {"P", 4},
		"| subject |":      {"K", 4},
		"| misbehaviour |": {"H", 26},
		"| feature |":      {"F", 18},
		"| login |":        {"L", 13},
	}, known)
}

// suiteTests returns the names of the tests of test/suite, which run the programs of the suite.
func suiteTests(t *testing.T) map[string]bool {
	t.Helper()
	return testsIn(t, "../test/suite")
}

// testsIn returns the names of the tests in a folder.
func testsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	sources, err := filepath.Glob(folder + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				known[f.Name.Name] = true
			}
		}
	}
	return known
}
