package main

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/catalog/dependencies"
	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// TestDescriptionsFit: whatever a workflow is, its description fits, is whole if that fits, and counts what it leaves out.
func TestDescriptionsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringN(0, 60, -1), rapid.StringN(0, 3000, -1))
		count := rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(0, 200))
		d := description{Name: "a-workflow-with-a-name", Description: text.Draw(t, "description"), Inputs: map[string]input{}, Outputs: map[string]workflow.Output{}}
		rate, p95 := 0.123456789, int64(1<<40)
		d.Statistics = reader.Statistics{SuccessRate: &rate, P95DurationMS: &p95}
		d.Statistics.Stats = reader.Stats{Runs: 1 << 20, Successes: 1 << 19, LastRun: time.Now(), LastStatus: "completed", LastDurationMS: p95, TotalDurationMS: p95}
		if rapid.Bool().Draw(t, "broken") {
			d.Warnings = append(d.Warnings, fault.New(fault.Validation, "%s", text.Draw(t, "warning")))
		}
		var errors []*fault.Fault
		for range rapid.IntRange(0, 5).Draw(t, "errors") {
			errors = append(errors, fault.New(fault.Validation, "%s", text.Draw(t, "error")))
		}
		inputs, nodes, settings := count.Draw(t, "inputs"), count.Draw(t, "nodes"), count.Draw(t, "settings")
		d.Example = &example{Inputs: map[string]json.RawMessage{}}
		for i := range inputs {
			in := input{Description: text.Draw(t, "input"), Type: "string", Required: i%2 == 0}
			name := fmt.Sprintf("input_%03d", i)
			if in.Required {
				d.Example.Inputs[name] = json.RawMessage(`"text"`)
			}
			d.Inputs[name] = in
		}
		for i := range count.Draw(t, "outputs") {
			d.Outputs[fmt.Sprintf("output_%03d", i)] = workflow.Output{Source: text.Draw(t, "source")}
		}
		for i := range nodes {
			id := fmt.Sprintf("node-%03d", i)
			d.Nodes = append(d.Nodes, node{id, "shell", text.Draw(t, "purpose")})
			d.Edges = append(d.Edges, workflow.Edge{From: id, To: id})
			d.Templates = append(d.Templates, templated{id, text.Draw(t, "path"), []string{text.Draw(t, "reads"), "b"}})
		}
		for i := range settings {
			d.Dependencies.Settings = append(d.Dependencies.Settings, dependencies.Setting{Name: fmt.Sprint("setting", i), For: "node a"})
		}
		d.judge(errors)
		limits := page.Limits{Bytes: rapid.IntRange(page.Least, 12000).Draw(t, "bytes"), Entries: rapid.IntRange(0, 9).Draw(t, "limit")}
		whole := page.Size(d)
		d.limit(limits, fault.Tools)
		if size := page.Size(d); size > limits.Bytes {
			t.Fatalf("%d bytes, not %d: %s", size, limits.Bytes, d.Name)
		}
		if whole <= limits.Bytes && limits.Entries == 0 && d.Truncated {
			t.Fatalf("%d bytes fit into %d, and were shortened", whole, limits.Bytes)
		}
		for _, c := range []struct {
			what              string
			shown, total, all int
		}{
			{"inputs", len(d.Inputs), d.InputsTotal, inputs}, {"nodes", len(d.Nodes), d.NodesTotal, nodes}, {"edges", len(d.Edges), d.EdgesTotal, nodes},
			{"settings", len(d.Dependencies.Settings), d.Dependencies.SettingsTotal, settings},
		} {
			if limits.Entries > 0 && c.shown > limits.Entries || c.shown < c.all && (c.total != c.all || !d.Truncated) || c.shown == c.all && c.total != 0 {
				t.Fatalf("%d of %d %s, the total is %d", c.shown, c.all, c.what, c.total)
			}
		}
	})
}
