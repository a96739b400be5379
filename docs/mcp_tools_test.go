package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestRulesOfMCPToolsHaveATest: the tables of the page are whole, and the tests that they name are in test/suite.
func TestRulesOfMCPToolsHaveATest(t *testing.T) {
	p := readPage(t, "mcp-tools.md")
	known := suiteTests(t)
	for header, numbers := range map[string]struct {
		letter string
		last   int
	}{"| rule |": {"R", 14}, "| criterion |": {"C", 15}, "| case |": {"E", 16}} {
		rows := p.rows(t, header)
		if len(rows) != numbers.last {
			t.Errorf("the table %s has %d rows, not %d", header, len(rows), numbers.last)
		}
		for i, row := range rows {
			if len(row) != 3 || row[0] != fmt.Sprint(numbers.letter, i+1) {
				t.Errorf("row %d of the table %s is %q", i+1, header, row)
				continue
			}
			tests := spans(row[2])
			if len(tests) == 0 {
				t.Errorf("%s names no test", row[0])
			}
			for _, name := range tests {
				if !known[name] {
					t.Errorf("%s: there is no test %s", row[0], name)
				}
			}
		}
	}
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
