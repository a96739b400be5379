package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestRulesOfMCPToolsHaveATest: the tables of the page are whole, and the tests that they name are in test/suite.
func TestRulesOfMCPToolsHaveATest(t *testing.T) {
	checkRules(t, readPage(t, "mcp-tools.md"), map[string]numbered{"| rule |": {"R", 14}, "| criterion |": {"C", 15}, "| case |": {"E", 16}}, suiteTests(t))
}

// suiteTests returns the names of the tests of test/suite, which run the programs of the suite.
func suiteTests(t *testing.T) map[string]bool {
	t.Helper()
	sources, err := filepath.Glob("../test/suite/*_test.go")
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
