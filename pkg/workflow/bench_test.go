package workflow

import (
	"fmt"
	"strings"
	"testing"
)

// chain returns a workflow of n nodes, each of which reads the one before it, in the JSON form.
func chain(n int) []byte {
	var b strings.Builder
	b.WriteString("{\n  \"nodes\": [\n")
	for i := range n {
		sep := ",\n"
		if i == n-1 {
			sep = "\n"
		}
		fmt.Fprintf(&b, `    {"id": "step-%d", "type": "shell", "purpose": "Do what comes %dth", "params": {"command": "echo \"${step-%d.stdout}\" | tr a-z A-Z", "timeout": 30}}%s`, i, i, i-1, sep)
	}
	b.WriteString("  ],\n  \"edges\": [\n")
	for i := range n - 1 {
		sep := ",\n"
		if i == n-2 {
			sep = "\n"
		}
		fmt.Fprintf(&b, `    {"from": "step-%d", "to": "step-%d"}%s`, i, i+1, sep)
	}
	b.WriteString("  ]\n}\n")
	return []byte(b.String())
}

// steps returns the same workflow in the Markdown form.
func steps(n int) []byte {
	var b strings.Builder
	b.WriteString("# Steps\n\nMany of them.\n\n## Steps\n")
	for i := range n {
		fmt.Fprintf(&b, "\n### step-%d\n\nDo what comes %dth.\n\n- type: shell\n- timeout: 30\n\n```shell command\necho \"${step-%d.stdout}\" | tr a-z A-Z\n```\n", i, i, i-1)
	}
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	data := `{"nodes": [{"id": "a", "type": "echo", "params": {"data": [` + strings.Repeat(`{"name": "x", "n": 12.5, "on": true}, `, 270_000) + `1]}}]}`
	for _, c := range []struct {
		name   string
		source []byte
	}{
		{"10000nodes.json", chain(10_000)}, {"10000steps.md", steps(10_000)}, {"10MB.json", []byte(data)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.source)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(c.name, c.source); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
