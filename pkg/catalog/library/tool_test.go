package library

import (
	"encoding/json"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// tooled returns the tool of a saved workflow as a list shows it.
func tooled(t *testing.T, l *Library, name string) map[string]any {
	t.Helper()
	list, err := l.List(false, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range list {
		if w.Name == name {
			var tool map[string]any
			if err := json.Unmarshal(w.Tool, &tool); err != nil {
				t.Fatal(err)
			}
			return tool
		}
	}
	t.Fatalf("%s is not listed", name)
	return nil
}

func TestTool(t *testing.T) {
	l, _ := open(t, map[string]string{
		"library/plain.json": `{"nodes":[{"id":"a","type":"echo"}]}`,
		"library/full.pflow.md": `---
category: report
tags: [tool, 7]
executionType: sync
version: 2.1.0
---
# Full

Makes a report.

## Inputs

### count

How many.

- type: integer
- default: 3

### rows

The rows.

- type: array

### whatever

Anything.

- required: false

### api_token

Who asks.

- type: string
- default: canary-4711

### pin

A secret.

- type: string
- secret: true
- default: canary-4712

## Steps

### a

Says something.

- type: echo

## Outputs

### text

What it said.

- type: number
- source: ${a.message}
`})
	for name, want := range map[string]string{
		"plain": `{"id":"plain","name":"plain","description":"Run the workflow plain","category":"workflow","version":"1.0.0",
			"inputSchema":{"type":"object","properties":{},"additionalProperties":false},"executionType":"async","metadata":{"tags":[]}}`,
		"full": `{"id":"full","name":"full","description":"Makes a report.","category":"report","version":"2.1.0","executionType":"sync","metadata":{"tags":["tool","7"]},
			"inputSchema":{"type":"object","additionalProperties":false,"required":["rows"],"properties":{
				"count":{"type":"integer","description":"How many.","default":3},
				"rows":{"type":"array","description":"The rows.","items":{}},
				"whatever":{"description":"Anything."},
				"api_token":{"type":"string","description":"Who asks.","writeOnly":true},
				"pin":{"type":"string","description":"A secret.","writeOnly":true}}},
			"outputSchema":{"type":"object","properties":{"text":{"description":"What it said."}}}}`,
	} {
		var wanted map[string]any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(wanted, tooled(t, l, name)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// The index has the tool of a workflow, unless it is very long.
func TestToolInTheIndex(t *testing.T) {
	long := `{"inputs":{"x":{"type":"string","description":"` + strings.Repeat("x", longestStored) + `"}},"nodes":[{"id":"a","type":"echo"}]}`
	l, h := open(t, map[string]string{"library/one.json": hello, "library/long.json": long})
	l.leastIndexed, l.now = 1, indexed(h).now
	want := tooled(t, l, "one")
	x := storedIndex(h)
	if x == nil || len(x.entries) != 1 {
		t.Fatalf("%+v", x)
	}
	for range 2 {
		if d := gocmp.Diff(want, tooled(t, indexed(h), "one")); d != "" {
			t.Error(d)
		}
		if tool := tooled(t, indexed(h), "long"); tool["id"] != "long" {
			t.Error(tool)
		}
	}
}
