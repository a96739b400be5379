package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/nodes/jq"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/check"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// The guide stays short, because an agent reads all of it each time.
func TestGuideIsShort(t *testing.T) {
	if n := utf8.RuneCount(guide); n > 5500 {
		t.Errorf("the guide has %d characters", n)
	}
}

// Every sample in the guide is valid: the whole workflows in both forms, and the parts of workflows in running text.
func TestGuideSamples(t *testing.T) {
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Write([]byte(`{"inputs": {"dir": {"type": "string"}}, "nodes": [{"id": "a", "type": "shell", "params": {"command": "ls \"${dir}\""}}]}`), 0o600, "library", "build-app.json"); err != nil {
		t.Fatal(err)
	}
	lib, types := library.Open(h), registry.Open(h)
	sound := func(what, source string) {
		t.Helper()
		file, err := workflow.Parse("guide", []byte(source))
		if err != nil {
			t.Errorf("%s: %v\n%s", what, err, source)
			return
		}
		report := check.Read(file, nil, types, lib.OpenSub, jq.Check)
		for _, f := range append([]*fault.Fault{}, append(report.Errors, report.Warnings...)...) {
			t.Errorf("%s: %s%s", what, f.Where(), f.Message)
		}
	}
	text := string(guide)
	whole := regexp.MustCompile("(?ms)^```json\n(.*?)^```$|^````markdown\n(.*?)^````$")
	samples := whole.FindAllStringSubmatch(text, -1)
	if len(samples) != 2 {
		t.Errorf("there are %d whole workflows", len(samples))
	}
	for _, m := range samples {
		sound("a whole workflow", m[1]+m[2])
	}
	parts := 0
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(whole.ReplaceAllString(text, ""), -1) {
		for _, p := range template.Parse(m[1]) {
			if p.Bad && p.Text != "${" {
				t.Errorf("%s is no template", p.Source)
			}
		}
		if strings.HasPrefix(m[1], `{"`) || strings.HasPrefix(m[1], `"`) && strings.Contains(m[1], `": `) || strings.HasPrefix(m[1], "sh -c ") {
			parts++
			sound(m[1], around(t, m[1]))
		}
	}
	if parts < 12 {
		t.Errorf("only %d parts of workflows were found", parts)
	}
}

// around returns a workflow that contains a part of one: a field or a node.
func around(t *testing.T, part string) string {
	t.Helper()
	node, input, edge := `"params": {"command": "echo '{\"done\": true}'"}`, `"required": false`, `"action": "default"`
	last := ""
	switch key, _, _ := strings.Cut(strings.TrimPrefix(part, `"`), `": `); key {
	case "required", "stdin", "secret":
		input = part
	case "action":
		edge = part
	case "error_handling":
		node = `"batch": {"items": "${list.stdout}", ` + part + `}, "params": {"command": "cat \"${item}\""}`
	case "batch":
		node = part + `, "params": {"command": "cat \"${file}\""}`
	case "ignore_errors":
		node = `"params": {"command": "true", ` + part + `}`
	case "loop", "retry", "timeout", "cache", "approval":
		node += ", " + part
	case `{"id`:
		last = ", " + part
	default:
		if !strings.HasPrefix(part, "sh -c ") {
			t.Errorf("where does %s belong?", part)
		}
		node = fmt.Sprintf(`"params": {"command": %q}`, part)
	}
	return `{
  "inputs": {"x": {"type": "string", ` + input + `}},
  "nodes": [
    {"id": "list", "type": "shell", "params": {"command": "echo '[1]'", "stdin": "${x}"}},
    {"id": "poll", "type": "shell", ` + node + `}` + last + `
  ],
  "edges": [{"from": "list", "to": "poll", ` + edge + `}` + edgeTo(last) + `]
}`
}

// edgeTo returns the edge to the last node.
func edgeTo(last string) string {
	id := regexp.MustCompile(`^, {"id": ("[^"]+")`).FindStringSubmatch(last)
	if id == nil {
		return ""
	}
	return `, {"from": "list", "to": ` + id[1] + `}`
}
