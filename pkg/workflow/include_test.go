package workflow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Every form of a file refers to files in the same places.
func TestReferences(t *testing.T) {
	const nodes = `[
		{"id":"a","type":"shell","params":{"command":"./a.sh","stdin":"../in.txt","cwd":"./not"}},
		{"id":"b","type":"llm","batch":"./batch.yaml","params":{"prompt":"prompts/first.md","output_schema":"./s.json"}},
		{"id":"c","type":"shell","params":{"command":"./a.sh ARG","stdin":"./${x}"}},
		{"id":"d","type":"write-file","params":{"file_path":"./f","content":"./c"}},
		{"id":"e","type":"workflow","params":{"workflow":{"nodes":[{"id":"f","type":"code","parameters":{"code":"./f.py"}}]}}}]`
	const outputs = `{"o":{"source":"./o.txt"},"p":{"source":"a.stdout"}}`
	for name, text := range map[string]string{
		"bare":    `{"nodes":` + nodes + `,"outputs":` + outputs + `}`,
		"wrapped": `{"ir":{"nodes":` + nodes + `,"outputs":` + outputs + `},"name":"w"}`,
	} {
		f, err := Parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range f.References() {
			got = append(got, fmt.Sprintf("%s %s %s %t %t %t", r.Path, r.Node, r.Ref, r.Command, r.Data, r.Plain))
		}
		want := `nodes[0].params.command a ./a.sh true false false
nodes[0].params.stdin a ../in.txt false false false
nodes[1].batch b ./batch.yaml false true false
nodes[1].params.prompt b prompts/first.md false false true
nodes[1].params.output_schema b ./s.json false true false
nodes[4].params.workflow.nodes[0].params.code f ./f.py false false false
outputs.o.source  ./o.txt false false false
outputs.p.source  a.stdout false false true`
		if strings.Join(got, "\n") != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), want)
		}
	}
}

// includeAll returns a workflow with the same content in place of every reference.
func includeAll(t *testing.T, name, text, content string) (*File, error) {
	t.Helper()
	f, err := Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var files []Included
	for _, r := range f.References() {
		if !r.Plain {
			files = append(files, Included{Reference: r, Name: strings.TrimPrefix(r.Ref, "./"), Content: []byte(content)})
		}
	}
	return f.Include(files)
}

func TestPlacesInIncludedFiles(t *testing.T) {
	for _, c := range []struct {
		name, text, content, path string
		offset                    int
		want                      string
	}{
		{"w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"./a.sh"}}]}`, "one\ntwo ${x}\n", "nodes[0].params.command", 8, "a.sh:2:5"},
		{"w.json", `{"ir":{"nodes":[{"id":"a","type":"shell","parameters":{"command":"./a.sh"}}]}}`, "one\ntwo ${x}\n", "nodes[0].params.command", 8, "a.sh:2:5"},
		{"w.md", "# T\n\n## Steps\n\n### a\n\nA.\n\n- type: shell\n- command: ./a.sh\n", "\xef\xbb\xbfone\ntwo ${x}\n", "nodes[0].params.command", 8, "a.sh:2:5"},
		{"w.md", "# T\n\n## Steps\n\n### a\n\nA.\n\n- type: shell\n- command: ./a.sh\n", "one", "nodes[0].params.other", 0, "w.md:5:5"},
		{"w.json", `{"nodes":[{"id":"a","type":"echo","batch":"./b.yaml"}]}`, "# list\nitems:\n  - one\n  - ${x}\n", "nodes[0].batch.items[1]", 0, "b.yaml:4:5"},
		{"w.json", `{"nodes":[{"id":"a","type":"http","params":{"headers":"./h.json"}}]}`, "{\n  \"A\": \"b ${x}\"\n}\n", "nodes[0].params.headers.A", 2, "h.json:2:11"},
	} {
		f, err := includeAll(t, c.name, c.text, c.content)
		if err != nil {
			t.Fatal(err)
		}
		if file, line, column := f.PlaceIn(c.path, c.offset); fmt.Sprintf("%s:%d:%d", file, line, column) != c.want {
			t.Errorf("%s %s+%d is %s:%d:%d, want %s", c.text, c.path, c.offset, file, line, column, c.want)
		}
	}
}

func TestFaultsInIncludedFiles(t *testing.T) {
	for _, c := range []struct{ text, content, want string }{
		{`{"nodes":[{"id":"a","type":"echo","batch":"./b.yaml"}]}`, "items: [1]\nother: true\n", "b.yaml:2:1 nodes[0].batch.other"},
		{`{"nodes":[{"id":"a","type":"echo","batch":"./b.yaml"}]}`, "- 1\n- 2\n", "b.yaml:1:1 nodes[0].batch"},
		{`{"nodes":[{"id":"a","type":"echo","batch":"./b.yaml"}]}`, "items: [1\n", "b.yaml:1:8 nodes[0].batch"},
		{`{"nodes":[{"id":"a","type":"echo","batch":"./b.json"}]}`, "{\"items\": [1,\n]}", "b.json:2:1 nodes[0].batch"},
		{`{"nodes":[{"id":"a","type":"echo","batch":"./b.json"}]}`, " ", "b.json:1:1 nodes[0].batch"},
		{`{"nodes":[{"id":"a","type":"shell","params":{"stdin":"./b"}}]}`, "a\n\xff", "b:2:1 nodes[0].params.stdin"},
	} {
		_, err := includeAll(t, "w.json", c.text, c.content)
		if err == nil {
			t.Errorf("%q is no error", c.content)
			continue
		}
		f := fault.From(err)
		if len(f.Errors) > 0 {
			f = f.Errors[0]
		}
		if got := fmt.Sprintf("%s:%d:%d %s", f.File, f.Line, f.Column, f.Path); got != c.want || f.Type != fault.Validation {
			t.Errorf("%q: %s (%s), want %s", c.content, got, f.Message, c.want)
		}
	}
}

// A file in place of a value is not read for further references.
func TestIncludedTextIsText(t *testing.T) {
	f, err := includeAll(t, "w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"./a.sh"}}]}`, "./a.sh")
	if err != nil || string(f.Workflow.Nodes[0].Params) != `{"command":"./a.sh"}` || len(f.Included()) != 1 {
		t.Errorf("%v %+v", err, f.Workflow)
	}
}
