package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRulesHaveATest: the tables of the five tools are whole, and each test that they name talks to pflow-serve.
func TestRulesHaveATest(t *testing.T) {
	checkRules(t, readPage(t, "five-tools.md"), map[string]numbered{"| rule |": {"R", 20}, "| criterion |": {"C", 25}, "| case |": {"E", 10}}, sessionTests(t))
}

// numbered says how the rows of a table are numbered: a letter and a number, from 1 to last.
type numbered struct {
	letter string
	last   int
}

// checkRules checks that the tables of a page, by their headers, have all their rows, and that each row names tests that are known.
func checkRules(t *testing.T, p *page, tables map[string]numbered, known map[string]bool) {
	t.Helper()
	for header, numbers := range tables {
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
					t.Errorf("%s: the page names %s, which is not such a test", row[0], name)
				}
			}
		}
	}
}

// sessionTests returns the tests that open an MCP session with pflow-serve: functions of test/suite and files of
// test/client.
func sessionTests(t *testing.T) map[string]bool {
	t.Helper()
	sessions := map[string]bool{}
	sources, err := filepath.Glob("../test/suite/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && connects(f) {
				sessions[f.Name.Name] = true
			}
		}
	}
	clients, err := filepath.Glob("../test/client/*.test.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range clients {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sessions[filepath.Base(name)] = strings.Contains(string(source), "program('pflow-serve')")
	}
	return sessions
}

// connects reports whether a function calls connect and names pflow-serve.
func connects(f *ast.FuncDecl) bool {
	calls, names := false, false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			calls = calls || n.Sel.Name == "connect"
		case *ast.BasicLit:
			names = names || n.Value == `"pflow-serve"`
		}
		return true
	})
	return calls && names
}
