package workflow

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pflow-suite/pflow/pkg/workflow/yaml"
)

// parsed parses any source and checks the properties of the resulting workflow or fault.
func parsed(t *testing.T, name string, source []byte) {
	f, err := Parse(name, source)
	if (f == nil) == (err == nil) {
		t.Fatal("neither a workflow nor an error")
	}
	if err != nil {
		for _, f := range append(faultOf(err).Errors, faultOf(err)) {
			if f.Message == "" || f.Line < 0 || len(f.Errors) == 0 && f.Line == 0 && f.File != "" {
				t.Errorf("%+v", f)
			}
		}
		return
	}
	if !json.Valid(f.JSON()) {
		t.Fatalf("%q has the JSON %q", source, f.JSON())
	}
	again, err := Parse("again.json", f.JSON())
	if err != nil {
		t.Fatalf("%q as JSON, %s: %v", source, f.JSON(), err)
	}
	if d := cmp.Diff(f.Workflow, again.Workflow, same); d != "" {
		t.Fatalf("%q as JSON, %s: %s", source, f.JSON(), d)
	}
	for i, n := range f.Workflow.Nodes {
		if !json.Valid(n.Params) {
			t.Fatalf("%q has the params %q", source, n.Params)
		}
		for _, path := range []string{item("nodes", i), item("nodes", i) + ".params.inputs.x", item("nodes", i) + ".id"} {
			f.Place(path)
			f.PlaceIn(path, len(n.ID)-1)
		}
	}
	text, err := Markdown(f.Workflow, "")
	if err != nil {
		return
	}
	again, err = Parse("again.md", text)
	if err != nil {
		t.Fatalf("%q as Markdown, %s: %v", source, text, err)
	}
	if d := difference(f.Workflow, again.Workflow, ""); d != "" {
		t.Fatalf("%q differs in %s as Markdown, %s", source, d, text)
	}
}

// seeds adds the examples and the broken files to a fuzz target.
func seeds(f *testing.F, form string) {
	for _, pattern := range []string{"testdata/examples/*", "testdata/*_faults.txtar"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatal(err)
		}
		for _, name := range names {
			source, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			if strings.HasSuffix(name, form) {
				f.Add(source)
			}
			for _, file := range txtar.Parse(source).Files {
				if strings.HasSuffix(file.Name, form) {
					f.Add(file.Data)
				}
			}
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	f.Add([]byte(`{"nodes":[{"id":"a","type":"echo","params":{"message":"${x}"}}],"inputs":{"x":{"default":1}},"edges":[{"from":"a","to":"b"}]}`))
	f.Add([]byte(`{"ir":{"nodes":[]},"version":3}`))
	seeds(f, ".json")
	f.Fuzz(func(t *testing.T, source []byte) { parsed(t, "f.json", source) })
}

// FuzzParseMarkdown has long seeds. Run it with -fuzzminimizetime 10x, or the fuzzer spends its time on minimizing them.
func FuzzParseMarkdown(f *testing.F) {
	seeds(f, ".md")
	f.Fuzz(func(t *testing.T, source []byte) { parsed(t, "f.md", source) })
}

// FuzzTraceYAML checks that each byte of a scalar that has a place is at that place in the file, or at its escape sequence.
func FuzzTraceYAML(f *testing.F) {
	f.Add("a: |2-\n    b ${c}\n   d\n\n- e\n")
	f.Add("- >1+\n     a\n  b ${c}\n\n    d\n- 'it''s\n\n  ${e}'\n- \"f\\n ${g}\n  h\"\n- i # j\n- k\r\n  l\r\n")
	f.Fuzz(func(t *testing.T, source string) {
		root, errors := yaml.Parse(source, 0, len(source), 0)
		if len(errors) > 0 || len(source) > 1000 {
			return
		}
		var visit func(n yaml.Node)
		visit = func(n yaml.Node) {
			for _, item := range n.Items {
				visit(item)
			}
			for _, e := range n.Entries {
				visit(e.Value)
			}
			for i := range len(n.Text) {
				at, ok := traceYAML(source, n, i)
				if !ok || strings.ContainsAny(n.Text[i:i+1], " \t\r\n") {
					continue
				}
				escape := n.Kind == yaml.Quoted && at < len(source) && (source[at] == '\\' || source[at] == '\'')
				if !escape && (at >= len(source) || source[at] != n.Text[i]) {
					t.Fatalf("%q: byte %d of %q is at %d", source, i, n.Text, at)
				}
			}
		}
		visit(root)
	})
}

func FuzzInputs(f *testing.F) {
	for _, s := range []string{"42", " 7.0e1 ", `{"a": [1]}`, "1,2", "Yes", "null", "\xff", `"a"`} {
		for kind := range InputTypes() {
			f.Add(s, kind, kind%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, s string, kind int, asJSON bool) {
		types := InputTypes()
		g := written(s)
		if asJSON {
			if newDecoder("f", []byte(s)).scan(s, 0, "") {
				g = given(s)
			}
		}
		resolved(t, types[uint(kind)%uint(len(types))], g)
	})
}
