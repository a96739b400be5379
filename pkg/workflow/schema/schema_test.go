package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pflow-suite/pflow/pkg/workflow"
)

func validator(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(JSON(), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func accepts(t *testing.T, s *jsonschema.Resolved, source []byte) error {
	t.Helper()
	var value any
	if err := json.Unmarshal(source, &value); err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

// TestExamples checks that the schema accepts every example in its JSON form.
func TestExamples(t *testing.T) {
	s := validator(t)
	seen := 0
	for _, pattern := range []string{"../../../examples/*", "../testdata/examples/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if ext := filepath.Ext(name); ext != ".json" && ext != ".md" {
				continue
			}
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := workflow.Parse(name, source)
			if err != nil {
				t.Errorf("%v", err)
				continue
			}
			seen++
			if strings.Contains(string(f.JSON()), `"purpose": null`) {
				continue // the parser treats null as a missing field, which the schema does not
			}
			if err := accepts(t, s, f.JSON()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			inMemory, err := json.Marshal(f.Workflow)
			if err != nil {
				t.Fatal(err)
			}
			if err := accepts(t, s, inMemory); err != nil {
				t.Errorf("%s in memory: %v", name, err)
			}
		}
	}
	if seen < 6 {
		t.Errorf("only %d examples", seen)
	}
}

// TestAgreesWithTheParser checks that the schema and the parser accept and refuse the same fields.
func TestAgreesWithTheParser(t *testing.T) {
	s := validator(t)
	const nodes = `"nodes": [{"id": "a", "type": "echo"}]`
	node := func(fields string) string { return `{"nodes": [{"id": "a", "type": "echo", ` + fields + `}]}` }
	durations := []string{"0", "1", "1.5", "-1", `"30s"`, `"1h30m"`, `" 5m "`, `"+1.5h"`, `"500ms"`, `"2"`, `"1e3"`, `"soon"`, `""`, `"-5s"`, `"5 s"`, "true", "[]", "{}", `"0s"`, "1e10"}
	var cases []string
	for _, d := range durations {
		cases = append(cases, node(`"timeout": `+d), node(`"timeout": {"node": `+d+`}`), node(`"cache": {"ttl": `+d+`}`),
			node(`"retry": {"max": 1, "wait": `+d+`}`), node(`"retry": {"max": 1, "max_wait": `+d+`}`), node(`"loop": {"while": true, "wait": `+d+`}`), node(`"loop": {"while": true, "wait": 0, "max_wait": `+d+`}`), node(`"batch": {"items": [], "retry_wait": `+d+`}`))
	}
	for _, n := range []string{"0", "1", "2.0", "1.5", "-1", "30000000", "1e6", "1e300", `"30MB"`, `"1.5 GiB"`, `" 2g "`, `"500"`, `"5.5"`, `"0"`, `"0MB"`, `"MB"`, `""`, `"-1MB"`, `"1e3"`, `"3 apples"`, "true", "[]", "{}"} {
		cases = append(cases, `{"runtime": {"max_output": `+n+`}, `+nodes+`}`)
	}
	for _, n := range []string{"0", "1", "2", "10", "11", "100", "101", "10000", "10001", "1.5", "2.0", "-1", `"3"`, "true"} {
		cases = append(cases, node(`"retry": `+n), node(`"retry": {"max": `+n+`}`), node(`"retry": {"max": 1, "jitter": `+n+`}`), node(`"loop": {"while": true, "max_iterations": `+n+`}`),
			node(`"batch": {"items": [], "max_concurrent": `+n+`}`), node(`"batch": {"items": [], "max_retries": `+n+`}`), node(`"retry": {"max": 1, "only_exit_codes": [`+n+`]}`))
	}
	for _, v := range []string{`"${x}"`, `"a ${x} b"`, `"$${x}"`, `"x"`, `"true"`, `""`, "true", "false", "3", "[1]", "[]", "{}"} {
		cases = append(cases, node(`"loop": {"while": `+v+`}`), node(`"loop": {"until": `+v+`}`), node(`"batch": {"items": `+v+`}`), node(`"batch": {"items": [], "as": `+v+`}`),
			node(`"approval": `+v), node(`"cache": `+v), node(`"unsafe_templates": `+v), node(`"params": `+v), node(`"parameters": `+v), node(`"inputs": `+v), node(`"purpose": `+v),
			node(`"batch": `+v), node(`"loop": `+v), node(`"retry": {"max": 1, "backoff": `+v+`}`), node(`"approval": {"choices": `+v+`}`), node(`"approval": {"question": `+v+`}`),
			`{"inputs": {"x": {"type": `+v+`}}, `+nodes+`}`, `{"inputs": {"x": {"required": `+v+`, "default": `+v+`}}, `+nodes+`}`, `{"inputs": {"x": `+v+`}, `+nodes+`}`, `{"inputs": `+v+`, `+nodes+`}`,
			`{"outputs": {"x": {"source": `+v+`}}, `+nodes+`}`, `{"outputs": {"x": {"source": "a", "stdout": `+v+`}}, `+nodes+`}`, `{"edges": `+v+`, `+nodes+`}`,
			`{"description": `+v+`, `+nodes+`}`, `{"ir": `+v+`}`, `{"nodes": `+v+`}`, `{"nodes": [`+v+`]}`, `{"start_node": `+v+`, `+nodes+`}`, `{"runtime": `+v+`, `+nodes+`}`, `{"enable_namespacing": `+v+`, `+nodes+`}`, v)
	}
	cases = append(cases,
		node(`"batch": {}`), node(`"batch": {"items": [], "as": "_x-1"}`), node(`"batch": {"items": [], "as": "__x"}`), node(`"batch": {"items": [], "as": "1"}`), node(`"batch": {"items": [], "as": "_"}`),
		node(`"batch": {"items": [], "error_handling": "continue"}`), node(`"batch": {"items": [], "error_handling": "stop"}`), node(`"batch": {"items": [], "x": 1}`),
		node(`"loop": {}`), node(`"loop": {"while": true, "until": "${x}"}`), node(`"loop": {"while": true, "carry": {"a": 1}}`), node(`"loop": {"while": true, "carry": []}`),
		node(`"retry": {}`), node(`"loop": {"while": true, "max_wait": 1}`), node(`"loop": {"while": true, "wait": "${a}s", "backoff": "${b}", "max_wait": "$${a}", "max_iterations": "${c}"}`), node(`"loop": {"while": true, "wait": 1, "backoff": "linear"}`), node(`"retry": {"max": 1, "backoff": "exponential"}`), node(`"retry": {"max": 1, "only_exit_codes": []}`), node(`"timeout": {"node": 1, "attempt": 2}`),
		node(`"approval": "required"`), node(`"approval": {"choices": ["a", "b"]}`), node(`"approval": {"choices": ["a"]}`), node(`"approval": {"choices": ["a", "a"]}`), node(`"approval": {"choices": ["a", " "]}`),
		node(`"params": {}, "parameters": {}`), node(`"_source_lines": {}`), node(`"config": {}`),
		`{"nodes": [{"id": "a"}]}`, `{"nodes": [{"id": "", "type": "echo"}]}`, `{"nodes": [{"type": "echo"}]}`, `{"edges": []}`, `{}`,
		`{"edges": [{"from": "a", "to": "a"}], `+nodes+`}`, `{"edges": [{"source": "a", "to": "a", "action": "x"}], `+nodes+`}`, `{"edges": [{"source": "a", "from": "a", "to": "a"}], `+nodes+`}`,
		`{"edges": [{"from": "a"}], `+nodes+`}`, `{"edges": [{"from": "", "to": "a"}], `+nodes+`}`, `{"edges": [{"from": "a", "target": "a", "x": 1}], `+nodes+`}`,
		`{"ir_version": "0.1.0", `+nodes+`}`, `{"ir_version": "1", `+nodes+`}`, `{"template_resolution_mode": "permissive", `+nodes+`}`, `{"template_resolution_mode": "lax", `+nodes+`}`,
		`{"runtime": {"max_outptu": 1}, `+nodes+`}`, `{"runtime": {"max_output": 1}, `+nodes+`}`,
		`{"inputs": {"": {}}, `+nodes+`}`, `{"inputs": {"x": {"type": "dict", "stdin": true, "secret": false, "description": "d"}}, `+nodes+`}`, `{"outputs": {"": {"source": "a"}}, `+nodes+`}`,
		`{"version": "1.0.0", "created_at": "2026-01-02T03:04:05Z", `+nodes+`}`, `{"mappings": {}, `+nodes+`}`, `{"name": "x", `+nodes+`}`,
		`{"ir": {`+nodes+`}, "name": "x", "description": "d", "rich_metadata": {}, "version": "1"}`, `{"ir": {`+nodes+`, "version": "1"}}`, `{"ir": {`+nodes+`}, "stars": 1}`,
	)
	right := 0
	for _, source := range cases {
		_, parse := workflow.Parse("w.json", []byte(source))
		schema := accepts(t, s, []byte(source))
		if (parse == nil) != (schema == nil) {
			t.Errorf("%s\n the parser: %v\n the schema: %v", source, parse, schema)
		}
		if parse == nil {
			right++
		}
	}
	if right < 60 || len(cases)-right < 60 {
		t.Errorf("%d of %d are right", right, len(cases))
	}
}

// TestDescribesEverything checks that every field has a description.
func TestDescribesEverything(t *testing.T) {
	walk := func(path string, s *jsonschema.Schema) {
		for name, p := range s.Properties {
			if p.Description == "" && !p.Deprecated && name != "ir" && name != "name" {
				t.Errorf("%s.%s has no description", path, name)
			}
		}
	}
	var root jsonschema.Schema
	if err := json.Unmarshal(JSON(), &root); err != nil {
		t.Fatal(err)
	}
	walk("file", root.Else)
	walk("saved file", root.Then)
	for name, s := range root.Defs {
		walk(name, s)
	}
	if len(root.Defs) != 13 {
		t.Errorf("%d definitions", len(root.Defs))
	}
}
