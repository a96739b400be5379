package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// subs checks the workflows that nodes run, and the inputs that the nodes pass to them.
func (c *checker) subs() {
	for i := range c.w.Nodes {
		n := &c.w.Nodes[i]
		if kind, ok := c.kindOf(n); !ok || kind.Name != workflow.SubType {
			continue
		}
		at := nodePath(i)
		named, ok := workflow.SubOf(n.Params)
		if !ok {
			c.fail(at, "Node %q does not name a workflow to run", n.ID).
				Suggest(`Add "workflow": the name of a saved workflow or draft, a path, or a workflow object`).Node = n.ID
			continue
		}
		path := at + ".params." + named.Param
		if strings.Contains(named.Ref, "${") {
			c.warn(path, "Node %q: the workflow %q is not checked, because it is known only at run time", n.ID, named.Ref).Node = n.ID
			continue
		}
		if sub := c.sub(n, named, path); sub != nil {
			c.report.Subs[n.ID] = sub
			c.subInputs(n, sub.File.Workflow, at)
		}
	}
}

// sub checks the workflow that a node names. It returns nil if the workflow cannot be read or must not run.
func (c *checker) sub(n *workflow.Node, named workflow.Sub, path string) *Report {
	refuse := func(f *fault.Fault) *Report {
		f.Node, f.Path = n.ID, path
		c.place(f)
		c.report.Errors = append(c.report.Errors, f)
		return nil
	}
	var file *workflow.File
	var err error
	switch {
	case named.Inline != nil:
		file, err = c.file.Inline(path, named.Inline)
		if err != nil {
			c.inlined(n, path, fault.From(err))
			return nil
		}
	case c.load == nil:
		return refuse(fault.New(fault.Validation, "Node %q: workflows cannot be looked up here", n.ID))
	default:
		file, err = c.load(c.file, named.Ref)
		if f := fault.From(err); err != nil && f.Type == fault.NotFound {
			g := *f.Unknown()
			g.Type = fault.Validation
			g.Message = fmt.Sprintf("Node %q runs a workflow that does not exist: %s", n.ID, f.Message)
			return refuse(&g)
		} else if err != nil {
			g := *f
			g.Message = fmt.Sprintf("Node %q runs a workflow that cannot be read: %s", n.ID, f.Message)
			c.report.Errors = append(c.report.Errors, &g)
			return nil
		}
	}
	if i := slices.IndexFunc(c.within, func(f *workflow.File) bool { return identity(f) == identity(file) }); i >= 0 && named.Inline == nil {
		names := []string{}
		for _, f := range append(slices.Clone(c.within[i:]), file) {
			names = append(names, f.Name)
		}
		return refuse(fault.New(fault.Validation, "Circular workflows: %s (each runs the next)", strings.Join(names, " → ")).
			Suggest("A workflow cannot run itself, directly or through others: use a loop or a batch to repeat"))
	}
	if len(c.within) > workflow.MaxDepth {
		return refuse(fault.New(fault.Validation, "The workflow %q would run at depth %d: workflows nest at most %d deep", file.Name, len(c.within), workflow.MaxDepth).
			Suggest("Nest fewer workflows"))
	}
	key := identity(file)
	if report, ok := c.shared.subs[key]; ok && named.Inline == nil {
		return report
	}
	report := workflowIn(file, c.shared, append(slices.Clone(c.within), file))
	if named.Inline == nil {
		c.shared.subs[key] = report
	}
	for _, list := range [][]*fault.Fault{report.Errors, report.Warnings} {
		for _, f := range list {
			if named.Inline != nil {
				f.Path = workflow.JoinPaths(path, f.Path)
			}
		}
	}
	c.report.Errors = append(c.report.Errors, report.Errors...)
	c.report.Warnings = append(c.report.Warnings, report.Warnings...)
	return report
}

// identity is equal for files that mean the same: the same text, whose relative paths start from the same folder.
func identity(f *workflow.File) string { return f.Dir + "\x00" + string(f.Source) }

// inlined reports the form errors of a workflow object inside a node.
func (c *checker) inlined(n *workflow.Node, path string, f *fault.Fault) {
	single := f.Errors
	if len(single) == 0 {
		single = []*fault.Fault{f}
	}
	for _, e := range single {
		g := *e
		g.Path, g.Node = workflow.JoinPaths(path, e.Path), n.ID
		c.place(&g)
		c.report.Errors = append(c.report.Errors, &g)
	}
}

// subInputs checks the inputs that a node passes to its workflow, and the outputs that it renames.
func (c *checker) subInputs(n *workflow.Node, w *workflow.Workflow, at string) {
	given := map[string]json.RawMessage{}
	path := at + ".params.inputs"
	if !gjson.GetBytes(n.Params, "inputs").Exists() && gjson.GetBytes(n.Params, "param_mapping").Exists() {
		path = at + ".params.param_mapping"
	}
	gjson.ParseBytes(workflow.SubInputs(n.Params)).ForEach(func(name, value gjson.Result) bool {
		given[name.Str] = json.RawMessage(value.Raw)
		return true
	})
	if n.Loop != nil {
		for name := range n.Loop.Carry {
			if _, ok := w.Inputs[name]; !ok {
				given[name] = nil
			}
		}
	}
	names := sortedNames(w.Inputs)
	whole := gjson.GetBytes(n.Params, strings.TrimPrefix(path, at+".params."))
	byTemplate := whole.Type == gjson.String && template.MayHoldTemplate(json.RawMessage(whole.Raw)) // known only at run time
	for _, name := range sortedNames(given) {
		in, ok := w.Inputs[name]
		if !ok {
			f := c.fail(rawjson.JoinPath(path, name), "Node %q: the workflow it runs has no input %q", n.ID, name)
			f.Node = n.ID
			c.instead(f, name, "Its inputs are", names)
			if len(names) == 0 {
				f.Suggest(`It declares no inputs: declare %q under "inputs" there, or remove it here`, name)
			}
			continue
		}
		if raw := given[name]; !template.MayHoldTemplate(raw) {
			if err := in.Accepts(name, raw); err != nil {
				c.fail(rawjson.JoinPath(path, name), "Node %q: %v", n.ID, fault.From(err).Message).Node = n.ID
			}
		}
	}
	for _, name := range names {
		if _, ok := given[name]; !ok && !byTemplate && w.Inputs[name].IsRequired() {
			f := c.fail(at, "Node %q: the workflow it runs requires input %q", n.ID, name)
			f.Node, f.Missing = n.ID, []string{name}
			if d := w.Inputs[name].Description; d != "" {
				f.Message += ": " + d
			}
			f.Suggest(`Add it: "inputs": {"%s": …}`, name)
		}
	}
	mapping := gjson.GetBytes(n.Params, "output_mapping")
	if mapping.IsObject() && len(w.Outputs) > 0 {
		mapping.ForEach(func(name, _ gjson.Result) bool {
			if _, ok := w.Outputs[name.Str]; !ok {
				f := c.fail(rawjson.JoinPath(at+".params.output_mapping", name.Str), "Node %q: the workflow it runs has no output %q", n.ID, name.Str)
				f.Node = n.ID
				c.instead(f, name.Str, "Its outputs are", sortedNames(w.Outputs))
			}
			return true
		})
	}
}
