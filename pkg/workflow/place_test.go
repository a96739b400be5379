package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// at returns the line and column of a text in a source, from 1.
func at(t *testing.T, source, text string) string {
	t.Helper()
	before, _, ok := strings.Cut(source, text)
	if !ok {
		t.Fatalf("no %q", text)
	}
	return fmt.Sprintf("%d:%d", strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n'))
}

func TestPlaceJSON(t *testing.T) {
	source := `{"nodes": [
  {"id": "a", "type": "echo", "parameters": {"message": "x", "a.b": [1, {"c": 2}]}, "inputs": {"n": 1}},
  {"id": "b", "type": "echo", "params": {}, "timeout": "5s"}],
 "edges": [{"source": "a", "target": "b"}]}`
	for _, wrapped := range []bool{false, true} {
		if wrapped {
			source = `{"description": "", "ir": ` + source + "}"
		}
		f, err := Parse("w.json", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		for path, text := range map[string]string{
			"nodes[0]": `{"id": "a"`, "nodes[1].id": `"id": "b"`, "nodes[0].params": `"parameters"`, "nodes[0].params.message": `"message"`,
			`nodes[0].params["a.b"]`: `"a.b"`, `nodes[0].params["a.b"][1]`: `{"c"`, `nodes[0].params["a.b"][1].c`: `"c"`,
			"nodes[0].params.inputs": `"inputs"`, "nodes[0].params.inputs.n": `"n"`, "edges[0].from": `"source"`, "edges[0].to": `"target"`,
			"nodes[1].timeout.node": `"timeout"`, "nodes[1].params.nope.at.all": `"params": {}`, `nodes[0].params["a.b"][7]`: `"a.b"`, "nodes[9]": `"nodes"`,
			"nodes[1].params.inputs.n": `"params": {}`, "": source, "nope": source,
		} {
			if wrapped && (path == "" || path == "nope") {
				text = `"ir"`
			}
			if _, line, column := f.Place(path); fmt.Sprintf("%d:%d", line, column) != at(t, source, text) {
				t.Errorf("%s is at %d:%d, want %s", path, line, column, at(t, source, text))
			}
		}
	}
}

const placed = `---
version: 1.0.0
---

# Title

What for.

## Inputs

### who

Somebody.

- type: string

## Steps

### first

One.

- type: shell
- env:
    A: x
    B: [1, two]
- stdin: plain ${who}
- cwd: "quoted é ${who}"
- note: |
    line é
      indented ${who}
- digit: |2-
      three
    ${who}
- fold: >
    one
    two ${who}

      three
    four ${user}
- fold-digit: >1+
      one
     é ${who}

- lines: one
    two ${who}

    three ${user} # remark
- quoted: "one
    é ${who}"
- single: ' one

    two ${who}'

   ` + "```" + `shell command
   echo é
   echo ${who}
   ` + "```" + `
- on-error: third

` + "```" + `json data
{"k": ["a\u00e9 ${who}"]}
` + "```" + `

### second

Two.

- type: echo
- next: end

### third

Three.

- type: echo

## Outputs

### out

The end.

- source: ${first.stdout}
`

func TestPlaceMarkdown(t *testing.T) {
	f, err := Parse("w.pflow.md", []byte(placed))
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"description": "Title", "version": "version:", "inputs": "## Inputs", "inputs.who": "who\n", "inputs.who.type": "type: string", "inputs.who.description": "who\n",
		"nodes": "## Steps", "nodes[0]": "first\n", "nodes[0].id": "first\n", "nodes[0].type": "type: shell", "nodes[0].params.env": "env:",
		"nodes[0].params.env.A": "A: x", "nodes[0].params.env.B[1]": "two]", "nodes[0].params.env.C": "env:", "nodes[0].params.command": "command\n",
		"nodes[0].params.data": "data\n", "nodes[0].params.data.k": `"k"`, "nodes[0].params.data.k[0]": `"a\u`, "nodes[0].params.nope": "first\n",
		"edges[0]": "first\n", "edges[0].to": "first\n", "edges[1].to": "third\n\n`", "edges[1].from": "first\n", "outputs.out.source": "source:",
		"nodes[7].id": "## Steps", "": "---",
	} {
		if _, line, column := f.Place(path); fmt.Sprintf("%d:%d", line, column) != at(t, placed, text) {
			t.Errorf("%s is at %d:%d, want %s", path, line, column, at(t, placed, text))
		}
	}
	for path, text := range map[string]string{
		"nodes[0].params.stdin": "plain ${who}", "nodes[0].params.cwd": "quoted é ${who}", "nodes[0].params.note": "line é\n  indented ${who}",
		"nodes[0].params.digit": "  three\n${who}", "nodes[0].params.fold": "one two ${who}\n\n  three\nfour ${user}\n", "nodes[0].params.fold-digit": "   one\n  é ${who}\n\n",
		"nodes[0].params.lines": "one two ${who}\nthree ${user}", "nodes[0].params.quoted": "one é ${who}", "nodes[0].params.single": " one\ntwo ${who}",
		"nodes[0].params.command": "echo é\necho ${who}", "nodes[0].params.data.k[0]": "aé ${who}", "outputs.out.source": "${first.stdout}",
	} {
		for offset := strings.Index(text, "${"); offset < len(text); offset++ {
			if !strings.HasPrefix(text[offset:], "${") {
				continue
			}
			name, _, _ := strings.Cut(text[offset:], "}")
			_, line, column := f.PlaceIn(path, offset)
			got := strings.Split(placed, "\n")[line-1]
			if !strings.HasPrefix(got[column-1:], name) {
				t.Errorf("byte %d of %s is at %d:%d, %q", offset, path, line, column, got)
			}
		}
	}
	for path, where := range map[string]string{
		"nodes[0].params.env": "nodes[0].params.env", "nodes[0].params.nope": "nodes[0]", "nodes[0].params.stdin": "nodes[0].params.stdin",
	} {
		_, line, column := f.PlaceIn(path, 500)
		if _, wantLine, wantColumn := f.Place(where); line != wantLine || column != wantColumn {
			t.Errorf("byte 500 of %s is at %d:%d", path, line, column)
		}
	}
}

// TestPlaceInAnyText checks the place of every letter of every parameter.
func TestPlaceInAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorkflow(t, true)
		raw, err := rawjson.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "escaped") {
			if raw, err = json.Marshal(w); err != nil {
				t.Fatal(err)
			}
		}
		sources := map[string][]byte{"w.json": raw}
		if sources["w.pflow.md"], err = Markdown(w, "A title"); err != nil {
			t.Fatal(err)
		}
		for name, source := range sources {
			f, err := Parse(name, source)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.Split(source, []byte("\n"))
			for i, n := range f.Workflow.Nodes {
				var params map[string]json.RawMessage
				if err := json.Unmarshal(n.Params, &params); err != nil {
					t.Fatal(err)
				}
				for key, value := range params {
					if value[0] == '"' {
						letters(t, f, lines, rawjson.JoinPath(item("nodes", i)+".params", key), unquote(string(value)))
					}
				}
			}
		}
	})
}

// letters checks the place of each letter of the text at a path. A letter without a place has that of the text.
func letters(t *rapid.T, f *File, lines [][]byte, path, text string) {
	_, own, column := f.PlaceIn(path, 1<<30)
	for i := range len(text) {
		if c := text[i]; c >= 'a' && c <= 'z' {
			_, line, at := f.PlaceIn(path, i)
			inline := f.Markdown && line == own && at == column
			if !inline && lines[line-1][at-1] != c {
				t.Fatalf("byte %d of %s, %q, is at %d:%d of\n%s", i, path, text, line, at, bytes.Join(lines, []byte("\n")))
			}
		}
	}
}
