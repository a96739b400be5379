package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// harmless returns a function like Fprintf that cleans its texts, which come from others: it puts each on one line and removes
// control sequences.
func harmless(w io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) {
		for i, arg := range args {
			switch text := arg.(type) {
			case string:
				args[i] = cells.Clean(text)
			case json.RawMessage:
				args[i] = cells.Clean(string(text))
			}
		}
		_, _ = fmt.Fprintf(w, format, args...)
	}
}

// text prints the interface for people.
func (d description) text(w io.Writer) {
	p := harmless(w)
	p("%s: %s\n", d.Name, d.Description)
	if d.ErrorsTotal > 0 {
		p("cannot run, errors: %d\n", d.ErrorsTotal)
	}
	for _, f := range d.Errors {
		p("  %s\n", f.Where()+f.Message)
	}
	if len(d.Inputs) > 0 {
		p("inputs:\n")
	}
	for _, name := range slices.Sorted(maps.Keys(d.Inputs)) {
		in := d.Inputs[name]
		need := "optional"
		if in.Required {
			need = "required"
		}
		p("  %s (%s, %s) %s", name, in.Type, need, in.Description)
		if in.Default != nil {
			p(" [%s]", in.Default)
		}
		p("\n")
	}
	if len(d.Outputs) > 0 {
		p("outputs:\n")
	}
	for _, name := range slices.Sorted(maps.Keys(d.Outputs)) {
		p("  %s: %s\n", name, d.Outputs[name].Description)
	}
	p("nodes:\n")
	for _, n := range d.Nodes {
		p("  %s (%s) %s\n", n.ID, n.Type, n.Purpose)
	}
	if s := d.Statistics; s.Runs > 0 {
		p("runs: %d, %d succeeded; the last %s at %s\n", s.Runs, s.Successes, s.LastStatus, s.LastRun.Format("2006-01-02 15:04:05"))
	}
	for _, server := range d.Dependencies.Servers {
		if !server.Configured {
			p("needs the MCP server %s, which is not configured\n", server.Name)
		}
	}
	for _, setting := range d.Dependencies.Settings {
		if setting.Required && !setting.Set {
			p("needs %s for %s, which is not set\n", setting.Name, setting.For)
		}
	}
}
