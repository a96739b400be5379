// Package check finds all errors of a workflow before it runs. Each error has its place, the names that exist instead of a
// wrong one, and the nearest of them.
package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Types looks up node types.
type Types interface {
	// Type returns the node type that a workflow calls by the given name; ok is false if it does not exist.
	Type(name string) (t nodetype.Type, ok bool, err error)
	// Types lists all node types. It is called only to suggest names.
	Types() ([]nodetype.Type, error)
}

// Load returns the workflow with the given name, or with a path that is relative to that of the workflow from. If it does not exist, the
// error is a not_found fault.
type Load func(from *workflow.File, ref string) (*workflow.File, error)

// JudgeFilter checks a jq filter that may use the given variables, which are named without the $. It returns nil if the
// filter is valid. Otherwise the fault's detail "offset", an int, is the byte of the filter where the error is, and its
// Missing holds the name of an undefined variable.
type JudgeFilter func(filter string, variables []string) *fault.Fault

// Report is the result of a check. A workflow with warnings can still run.
type Report struct {
	File     *workflow.File
	Errors   []*fault.Fault
	Warnings []*fault.Fault
	// Kinds holds the node types in use by the names that the workflow uses.
	Kinds map[string]nodetype.Type
	// Subs holds the reports of the workflows that nodes run, by node id. A workflow named by a template is not checked.
	Subs map[string]*Report
}

// Fault joins all errors into one fault. It returns nil if there are no errors.
func (r *Report) Fault(name string) *fault.Fault {
	return fault.Join(fault.Validation, name+" cannot run", r.Errors)
}

// Workflow checks a workflow file and the workflows that it runs. It does not check jq filters, so that a program that only
// runs workflows need not link that language.
func Workflow(f *workflow.File, types Types, load Load) *Report {
	return workflowIn(f, newShared(types, load, nil), []*workflow.File{f})
}

// Read checks the result of [workflow.Read]. Its error form is part of the report, and errors that only follow from it are
// left out. Jq filters are checked with judge.
func Read(f *workflow.File, form error, types Types, load Load, judge JudgeFilter) *Report {
	s := newShared(types, load, judge)
	if form == nil {
		return workflowIn(f, s, []*workflow.File{f})
	}
	faults := fault.From(form)
	report := &Report{File: f, Errors: faults.Errors}
	if len(faults.Errors) == 0 {
		report.Errors = []*fault.Fault{faults}
	}
	if f == nil {
		return report
	}
	known := report.Errors
	further := workflowIn(f, s, []*workflow.File{f})
	for _, e := range further.Errors {
		if e.File != f.Name || !slices.ContainsFunc(known, func(t *fault.Fault) bool { return within(e.Path, t.Path) }) {
			report.Errors = append(report.Errors, e)
		}
	}
	report.Warnings = further.Warnings
	return report
}

// within reports whether a path is equal to another or below it.
func within(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && other != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// shared holds the state that the check of a workflow shares with the checks of its sub-workflows.
type shared struct {
	types Types
	load  Load
	// judge is nil if filters are not checked.
	judge JudgeFilter
	// subs holds the reports of workflows by their source, so that each is checked once.
	subs map[string]*Report
	// typeNames caches the names of all node types.
	typeNames []string
	// searches counts the searches for a nearest name.
	searches int
	// schemas holds the input schemas of tools by their node types, nil for those that cannot be used.
	schemas map[string]*jsonschema.Schema
}

func newShared(types Types, load Load, judge JudgeFilter) *shared {
	return &shared{types: types, load: load, judge: judge, subs: map[string]*Report{}, schemas: map[string]*jsonschema.Schema{}}
}

// workflowIn checks one workflow. within holds the workflows that contain it, outermost first, and itself.
func workflowIn(f *workflow.File, s *shared, within []*workflow.File) *Report {
	c := &checker{
		shared: s, file: f, w: f.Workflow, within: within, nodes: map[string]int{}, used: map[string]bool{},
		report: &Report{File: f, Kinds: map[string]nodetype.Type{}, Subs: map[string]*Report{}},
	}
	c.names()
	runsOn(c, c.w.RunsOn, "runs_on", "")
	c.edges()
	c.subs()                       // before the nodes that read their outputs
	if len(c.report.Errors) == 0 { // only a valid graph has an order
		if p, err := plan.New(c.w); err != nil {
			c.place(fault.From(err))
			c.report.Errors = append(c.report.Errors, fault.From(err))
		} else {
			c.plan, c.certain = p, newCertainty(c.w, p.Order())
		}
	}
	for i := range c.w.Nodes {
		c.node(i)
	}
	c.outputs()
	c.inputs()
	c.plainPaths()
	c.excerpts()
	return c.report
}

type checker struct {
	*shared
	file   *workflow.File
	w      *workflow.Workflow
	within []*workflow.File
	nodes  map[string]int
	used   map[string]bool
	report *Report
	// roots lists the names that a template can start with, without duplicates: the inputs, then the nodes.
	roots []string
	// plan and certain are nil if the graph is not valid.
	plan    *plan.Plan
	certain *certainty
}

// The report of a workflow with thousands of errors stays readable: a nearest name is searched for in the first errors
// only, and after maxErrors no more are reported.
const (
	maxSearches = 100
	maxErrors   = 10_000
)

// fail reports an error at a JSON path and returns it, so that the caller can add suggestions.
func (c *checker) fail(path, format string, args ...any) *fault.Fault {
	f := fault.New(fault.Validation, format, args...)
	f.Path = path
	if len(c.report.Errors) >= maxErrors {
		return f
	}
	c.place(f)
	c.report.Errors = append(c.report.Errors, f)
	return f
}

// warn reports a warning at a JSON path and returns it.
func (c *checker) warn(path, format string, args ...any) *fault.Fault {
	f := fault.New(fault.Validation, format, args...)
	f.Path = path
	c.place(f)
	c.report.Warnings = append(c.report.Warnings, f)
	return f
}

// maxExcerpts bounds the errors, and the warnings, that show their line.
const maxExcerpts = 30

// excerpts adds their lines to the first errors and warnings.
func (c *checker) excerpts() {
	for _, list := range [][]*fault.Fault{c.report.Errors, c.report.Warnings} {
		for _, f := range list[:min(len(list), maxExcerpts)] {
			if f.Details["text"] != nil {
				continue
			}
			if text, mark := c.file.Excerpt(f.File, f.Line, f.Column); text != "" && !c.secret(text) {
				f.Detail("text", text).Detail("mark", mark)
			}
		}
	}
}

// secret reports whether a text contains the default of a secret input.
func (c *checker) secret(text string) bool {
	for _, in := range c.w.Inputs {
		if in.Secret && in.Default != nil && (strings.Contains(text, string(in.Default)) || strings.Contains(text, template.AsText(in.Default))) {
			return true
		}
	}
	return false
}

// nodePath returns the JSON path of a node.
func nodePath(i int) string { return "nodes[" + strconv.Itoa(i) + "]" }

// place sets the file, line and column of a fault by its path.
func (c *checker) place(f *fault.Fault) {
	f.File, f.Line, f.Column = c.file.Place(f.Path)
}

// edges checks the ends and the actions of edges, and that every node can run.
func (c *checker) edges() {
	var ids []string
	for i, n := range c.w.Nodes {
		if c.nodes[n.ID] == i {
			ids = append(ids, n.ID)
		}
	}
	known := func(path, what, id string) bool {
		if _, ok := c.nodes[id]; ok {
			return true
		}
		c.instead(c.fail(path, "%s references non-existent node %q", what, id), id, "The nodes are", ids)
		return false
	}
	for i, e := range c.w.Edges {
		if known(fmt.Sprintf("edges[%d].from", i), "Edge", e.From) {
			c.action(i, e)
		}
		if !e.Ends() {
			known(fmt.Sprintf("edges[%d].to", i), "Edge", e.To)
		} else if e.Action == workflow.ActionError {
			c.fail(fmt.Sprintf("edges[%d].to", i), "The error edge of node %q leads to no node", e.From).
				Suggest("Name the node that handles the failure; without an error edge a failure ends the run")
		}
	}
	if s := c.w.StartNode; s != "" && known("start_node", "start_node", s) {
		for _, id := range plan.Unreachable(c.w) {
			c.warn(nodePath(c.nodes[id]), "Node %q does not run: no path leads to it from start_node %q", id, s).
				Suggest("Connect it with an edge, or remove start_node")
		}
	}
	if c.unreached() {
		return
	}
	for _, id := range plan.Unconnected(c.w) {
		c.fail(nodePath(c.nodes[id]), "Node %q would never run: no edge leads to it or from it", id).
			Suggest("Connect it with an edge, or remove all edges to order the nodes by their templates")
	}
}

// action refuses an edge whose action its node never ends with, such as a misspelt one.
func (c *checker) action(i int, e workflow.Edge) {
	if e.Action == workflow.ActionDefault || e.Action == workflow.ActionError {
		return
	}
	kind, ok := c.kindOf(&c.w.Nodes[c.nodes[e.From]])
	actions := append(slices.Clone(kind.Actions), workflow.ActionDefault, workflow.ActionError)
	if !ok || slices.Contains(actions, e.Action) || slices.Contains(actions, nodetype.AnyAction) {
		return
	}
	slices.Sort(actions)
	f := c.fail(fmt.Sprintf("edges[%d].action", i), "Edge from %q to %q is never taken: %s nodes do not end with action %q", e.From, e.To, kind.Name, e.Action)
	c.instead(f, e.Action, "The actions are", slices.Compact(actions))
}

// outputs checks the sources of the declared outputs.
func (c *checker) outputs() {
	var stdout []string
	for _, name := range slices.Sorted(maps.Keys(c.w.Outputs)) {
		at := rawjson.JoinPath("outputs", name)
		path := at + ".source"
		if c.w.Outputs[name].Stdout {
			stdout = append(stdout, name)
		}
		parts := template.Parse(template.Source(c.w.Outputs[name].Source))
		if !slices.ContainsFunc(parts, func(p template.Part) bool { return p.Expr != nil || p.Bad }) {
			c.fail(path, "The source of output %q does not name a node: %q", name, c.w.Outputs[name].Source).
				Suggest("Write ${node.key}, where key is one of the node's outputs")
		}
		offset := 0
		for _, p := range parts {
			where := place{path: path, inText: true, offset: offset}
			switch {
			case p.Bad:
				c.malformed(where, p.Source)
			case p.Expr != nil:
				p.Expr.Refs(func(ref template.Ref, optional bool) { c.reference(where, ref, optional) })
				c.functions(where, p.Expr)
			}
			offset += len(p.Source)
		}
		c.outputType(name, at)
	}
	if len(stdout) > 1 {
		c.fail(rawjson.JoinPath("outputs", stdout[1])+".stdout", `More than one output has "stdout": true: %s`, strings.Join(stdout, ", ")).
			Suggest(`Keep "stdout": true for one of them`)
	}
}

// inputs checks the declared inputs and their defaults.
func (c *checker) inputs() {
	var stdin []string
	for _, name := range slices.Sorted(maps.Keys(c.w.Inputs)) {
		path := rawjson.JoinPath("inputs", name)
		named := template.IsName(name)
		if !named {
			c.fail(path, "Invalid input name %q: templates cannot refer to it", name).Suggest(nameRule)
		}
		in := c.w.Inputs[name]
		if in.Stdin {
			stdin = append(stdin, name)
		}
		if in.Default != nil && string(in.Default) != "null" {
			if err := in.Accepts(name, in.Default); err != nil {
				c.fail(path+".default", "%s", strings.Replace(err.Error(), "Input", "The default of input", 1)).
					Suggest(`Give a default of type %s, or declare another "type"`, in.Type)
			}
		}
		if named && !c.used[name] {
			c.warn(path, "Input %q is declared but never used", name).Suggest("Use it as ${%s}, or remove it", name)
		}
	}
	if len(stdin) > 1 {
		c.fail(rawjson.JoinPath("inputs", stdin[1])+".stdin", `More than one input has "stdin": true: %s`, strings.Join(stdin, ", ")).
			Suggest(`Keep "stdin": true for one of them`)
	}
}

// instead suggests a name that exists in place of one that does not: the nearest, or else all of them, as "what: …".
func (c *checker) instead(f *fault.Fault, name, what string, among []string) {
	c.offer(f, name, among)
	if near, ok := c.nearest(name, among); ok {
		f.Suggest("Did you mean %q?", near)
	} else if len(among) > 0 {
		f.Suggest("%s: %s", what, strings.Join(f.Available, ", "))
	}
}

// nearest returns the name that is most like the given one, as long as few names were searched for.
func (c *checker) nearest(name string, among []string) (string, bool) {
	if c.searches++; c.searches > maxSearches {
		return "", false
	}
	return fault.Nearest(name, among)
}

// offer lists the names nearest to the given one as available, as long as few names were searched for.
func (c *checker) offer(f *fault.Fault, name string, among []string) {
	if c.searches > maxSearches {
		name = ""
	}
	f.Offer(name, among)
}
