package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the path of the repository from this package.
const root = "../.."

// processState has the names in package os that only programs may use; they pass the values on.
var processState = []string{"Args", "Clearenv", "Environ", "Exit", "Getenv", "LookupEnv", "Setenv", "Stderr", "Stdin", "Stdout", "Unsetenv"}

// TestProcessState checks that only cmd/ uses the state of the process.
func TestProcessState(t *testing.T) {
	sources(t, func(t *testing.T, name string, file *ast.File, at func(ast.Node) token.Position) {
		pkg := importedAs(file, "os")
		if isMain(name) || pkg == "" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if what := selected(n, pkg); slices.Contains(processState, what) {
				t.Errorf("%s: os.%s outside cmd/: let main pass it in, through cli.System and cli.App", at(n), what)
			}
			return true
		})
	})
}

// encoders has the functions of encoding/json that escape <, > and &, also in values that only pass through.
var encoders = []string{"Marshal", "MarshalIndent", "NewEncoder"}

// TestOneEncoder checks that the packages and programs encode JSON by rawjson.Marshal.
func TestOneEncoder(t *testing.T) {
	exceptions := []string{"pkg/rawjson/rawjson.go", "pkg/fault/limit.go", "pkg/home/redact/escaped.go"} // the function, what it imports, and what imitates others
	sources(t, func(t *testing.T, name string, file *ast.File, at func(ast.Node) token.Position) {
		pkg := importedAs(file, "encoding/json")
		if pkg == "" || slices.Contains(exceptions, name) || !strings.HasPrefix(name, "pkg/") && !strings.HasPrefix(name, "cmd/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if what := selected(n, pkg); slices.Contains(encoders, what) {
				t.Errorf("%s: json.%s changes values that have <, > or &: use rawjson.Marshal", at(n), what)
			}
			return true
		})
	})
}

// TestStartUp checks that nothing is computed before main runs, because each start of a program would pay for it.
func TestStartUp(t *testing.T) {
	sources(t, func(t *testing.T, _ string, file *ast.File, at func(ast.Node) token.Position) {
		regexp := importedAs(file, "regexp")
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					t.Errorf("%s: func init slows down every start: compute the value when it is needed", at(d))
				}
			case *ast.GenDecl:
				ast.Inspect(d, func(n ast.Node) bool {
					if regexp != "" && selected(n, regexp) == "MustCompile" {
						t.Errorf("%s: a regular expression compiled at start-up: use sync.OnceValue or another way", at(n))
					}
					_, later := n.(*ast.FuncLit)
					return !later
				})
			}
		}
	})
}

// TestWords checks that no file mentions paths outside the repository.
func TestWords(t *testing.T) {
	words := [][]byte{[]byte("../" + "shared"), []byte("/" + "work/")}
	walk(t, func(name string) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if before, _, found := bytes.Cut(text, word); found {
				t.Errorf("%s:%d: mentions %s, which is not in the repository", name, 1+bytes.Count(before, []byte("\n")), word)
			}
		}
	})
}

// isMain reports whether a file belongs to a program rather than a package.
func isMain(name string) bool {
	return strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "scripts/")
}

// sources parses every Go file that is not a test and calls each with it.
func sources(t *testing.T, each func(t *testing.T, name string, file *ast.File, at func(ast.Node) token.Position)) {
	t.Helper()
	seen := 0
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return
		}
		src, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%v", err)
			return
		}
		seen++
		each(t, name, file, func(n ast.Node) token.Position { return files.Position(n.Pos()) })
	})
	if seen == 0 {
		t.Fatal("there are no Go files")
	}
}

// walk calls each with the slash-separated path of every file of the repository, except those that git ignores.
func walk(t *testing.T, each func(name string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && (name == ".git" || name == "bin" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.Type().IsRegular() && name != ".git": // a worktree's .git is a file
			each(filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// importedAs returns the name by which a file imports a package, or "" if it does not import it.
func importedAs(file *ast.File, path string) string {
	for _, spec := range file.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err != nil || imported != path {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path
	}
	return ""
}

// selected returns NAME if the node is pkg.NAME, else "".
func selected(n ast.Node, pkg string) string {
	if s, ok := n.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg {
			return s.Sel.Name
		}
	}
	return ""
}
