package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// engineParts are the files of the engine's parts, lowest first: its interface and its state, values, fan, questions, attempts, and the run.
var engineParts = [][]string{
	{"engine.go", "clock.go", "frame.go", "warnings.go"},
	{"store.go", "private.go", "long.go", "outputlimit.go", "values.go", "digest.go", "digest_old.go"},
	{"fan.go"},
	{"ask.go"},
	{"budget.go", "outputcache.go", "attempt.go"},
	{"run.go", "schedule.go", "begin.go", "settle.go", "keep.go", "refresh.go", "sub.go", "alone.go", "preview.go"},
}

// TestEngineParts checks that no part of the engine uses one above it. A method is used through its type, so that what is declared in a file
// are its types, functions, variables and constants.
func TestEngineParts(t *testing.T) {
	paths, err := filepath.Glob("../../pkg/engine/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files, fset := map[string]*ast.File{}, token.NewFileSet()
	for _, path := range paths {
		if name := filepath.Base(path); !strings.HasSuffix(name, "_test.go") {
			if files[name], err = parser.ParseFile(fset, path, nil, parser.SkipObjectResolution); err != nil {
				t.Fatal(err)
			}
		}
	}
	rank, declared := map[string]int{}, map[string]string{}
	for i, part := range engineParts {
		for _, name := range part {
			if files[name] == nil {
				t.Fatalf("there is no %s: correct engineParts", name)
			}
			rank[name] = i
			for _, d := range files[name].Decls {
				for _, id := range declaredBy(d) {
					declared[id] = name
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, ok := rank[name]; !ok {
			t.Errorf("%s is new: add it to engineParts", name)
			continue
		}
		var visit func(n ast.Node) bool
		visit = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr: // a field or a method, or a name of another package
				ast.Inspect(n.X, visit)
				return false
			case *ast.KeyValueExpr: // the name of a field is none of these
				ast.Inspect(n.Value, visit)
				return false
			case *ast.Field:
				ast.Inspect(n.Type, visit)
				return false
			case *ast.FuncDecl:
				if n.Recv != nil {
					ast.Inspect(n.Recv, visit)
				}
				ast.Inspect(n.Type, visit)
				ast.Inspect(n.Body, visit)
				return false
			case *ast.Ident:
				if from := declared[n.Name]; from != "" && rank[from] > rank[name] {
					t.Errorf("%s uses %s of %s, which is a higher part", fset.Position(n.Pos()), n.Name, from)
				}
			}
			return true
		}
		ast.Inspect(files[name], visit)
	}
}

// declaredBy returns the names of a declaration, except those of methods.
func declaredBy(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}
