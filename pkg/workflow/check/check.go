// Package check finds every fault of a workflow at once, before anything runs: each with its place, what exists instead
// and the nearest name.
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
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Types says which node types there are.
type Types interface {
	// Type finds one by the name that a workflow gives it.
	Type(name string) (nodetype.Type, bool, error)
	// Types lists them all; it is asked only to say what exists instead of one that does not.
	Types() ([]nodetype.Type, error)
}

// Load gives the workflow that a node names: a name or a path. A workflow that is not there is a not_found.
type Load func(ref string) (*workflow.File, error)

// JudgeFilter says what is wrong with a filter in the language of jq that may use variables of some names, written without
// the $; nil when nothing is. The byte of the filter where it is wrong is the fact "offset" of the fault's details, an int;
// a variable that is not defined is what the fault misses.
type JudgeFilter func(filter string, variables []string) *fault.Fault

// Report is what a check found. Warnings stop nothing.
type Report struct {
	File     *workflow.File
	Errors   []*fault.Fault
	Warnings []*fault.Fault
	// Kinds are the node types in use, by the name that the workflow gives them.
	Kinds map[string]nodetype.Type
	// Subs are the workflows that its nodes run, by the node's id, but for those that a template names.
	Subs map[string]*Report
}

// Fault is all errors as one, or nil.
func (r *Report) Fault(name string) *fault.Fault {
	return fault.Join(fault.Validation, name+" cannot run", r.Errors)
}

// Workflow checks a workflow file, and the workflows that it runs, against the node types there are. It judges no filters
// of jq: whoever only runs workflows need not know that language.
func Workflow(f *workflow.File, types Types, load Load) *Report {
	return workflowIn(f, newSetting(types, load, nil), []*workflow.File{f})
}

// Read checks what workflow.Read could read of a file, and what was wrong with its form. What follows of a fault in the form
// alone is not told. Filters are judged, too.
func Read(f *workflow.File, form error, types Types, load Load, judge JudgeFilter) *Report {
	s := newSetting(types, load, judge)
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
	told := report.Errors
	further := workflowIn(f, s, []*workflow.File{f})
	for _, e := range further.Errors {
		if e.File != f.Name || !slices.ContainsFunc(told, func(t *fault.Fault) bool { return within(e.Path, t.Path) }) {
			report.Errors = append(report.Errors, e)
		}
	}
	report.Warnings = further.Warnings
	return report
}

// within says whether a path is another, or leads into what is there.
func within(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && other != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// setting is what the checks of a workflow and of all it runs share.
type setting struct {
	types Types
	load  Load
	// judge is nil where no filters are judged.
	judge JudgeFilter
	// subs are the workflows that were checked already, by their source.
	subs map[string]*Report
	// kinds are the names of all node types, when they have been asked for.
	kinds []string
	// searches counts the looks for a nearest name.
	searches int
}

func newSetting(types Types, load Load, judge JudgeFilter) *setting {
	return &setting{types: types, load: load, judge: judge, subs: map[string]*Report{}}
}

// workflowIn checks one workflow. within are the workflows around it and itself.
func workflowIn(f *workflow.File, s *setting, within []*workflow.File) *Report {
	c := &checker{
		setting: s, file: f, w: f.Workflow, within: within, nodes: map[string]int{}, used: map[string]bool{},
		report: &Report{File: f, Kinds: map[string]nodetype.Type{}, Subs: map[string]*Report{}},
	}
	c.names()
	c.edges()
	c.subs()                       // what they put out is needed to check who reads them
	if len(c.report.Errors) == 0 { // an order can be told only of a sound graph
		if p, err := plan.New(c.w); err != nil {
			c.place(fault.From(err))
			c.report.Errors = append(c.report.Errors, fault.From(err))
		} else {
			c.certain = newCertainty(c.w, p.Order())
		}
	}
	for i := range c.w.Nodes {
		c.node(i)
	}
	c.outputs()
	c.inputs()
	c.excerpts()
	return c.report
}

type checker struct {
	*setting
	file   *workflow.File
	w      *workflow.Workflow
	within []*workflow.File
	nodes  map[string]int
	used   map[string]bool
	report *Report
	// roots are all names that a template may begin with, each once: the inputs, and then the nodes.
	roots []string
	// certain says which nodes run in every case; nil for a workflow whose graph is not sound.
	certain *certainty
}

// In a workflow with thousands of faults, what exists instead is not told thousands of times over: a list is cut, and
// a nearest name is looked for in the first faults only. After so many errors no more are told.
const (
	maxListed   = 30
	maxSearches = 100
	maxErrors   = 10_000
)

// fail notes an error at a JSON path and returns it, for what to do next to be added.
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

func (c *checker) warn(path, format string, args ...any) *fault.Fault {
	f := fault.New(fault.Validation, format, args...)
	f.Path = path
	c.place(f)
	c.report.Warnings = append(c.report.Warnings, f)
	return f
}

// maxExcerpts is how many errors, and how many warnings, show their line.
const maxExcerpts = 30

// excerpts shows the lines in which the first errors and warnings are.
func (c *checker) excerpts() {
	for _, list := range [][]*fault.Fault{c.report.Errors, c.report.Warnings} {
		for _, f := range list[:min(len(list), maxExcerpts)] {
			if f.File != c.file.Name || f.Details["text"] != nil {
				continue
			}
			if text, mark := c.file.Excerpt(f.Line, f.Column); text != "" && !c.secret(text) {
				f.Detail("text", text).Detail("mark", mark)
			}
		}
	}
}

// secret says whether a text has the default of an input in it that is a secret.
func (c *checker) secret(text string) bool {
	for _, in := range c.w.Inputs {
		if in.Secret && in.Default != nil && (strings.Contains(text, string(in.Default)) || strings.Contains(text, template.AsText(in.Default))) {
			return true
		}
	}
	return false
}

// nodePath is the JSON path of a node.
func nodePath(i int) string { return "nodes[" + strconv.Itoa(i) + "]" }

func (c *checker) place(f *fault.Fault) {
	f.File = c.file.Name
	f.Line, f.Column = c.file.Place(f.Path)
}

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
		known(fmt.Sprintf("edges[%d].to", i), "Edge", e.To)
	}
	if s := c.w.StartNode; s != "" && known("start_node", "start_node", s) {
		for _, id := range plan.Unreachable(c.w) {
			c.warn(nodePath(c.nodes[id]), "Node %q does not run: no way leads to it from start_node %q", id, s).
				Suggest("Connect it with an edge, or leave out start_node")
		}
	}
	for _, id := range plan.Unconnected(c.w) {
		c.fail(nodePath(c.nodes[id]), "Node %q would never run: no edge leads to it or from it", id).
			Suggest("Connect it with an edge, or leave out all edges to have the nodes ordered by their templates")
	}
}

// action warns of an edge for which its node has no action: a misspelt one would never be taken, without a word.
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
	f := c.warn(fmt.Sprintf("edges[%d].action", i), "Edge from %q to %q is never taken: %s nodes do not end with action %q", e.From, e.To, kind.Name, e.Action)
	c.instead(f, e.Action, "The actions are", slices.Compact(actions))
}

// outputs checks where the declared outputs come from.
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
			c.fail(path, "Output %q has the source %q, which names no node", name, c.w.Outputs[name].Source).
				Suggest("Write ${node.key}, with the node and the key of its outputs")
		}
		offset := 0
		for _, p := range parts {
			where := place{path: path, inText: true, offset: offset}
			switch {
			case p.Bad:
				c.malformed(where, p.Source)
			case p.Expr != nil:
				p.Expr.Refs(func(ref template.Ref, optional bool) { c.reference(where, ref, optional) })
			}
			offset += len(p.Source)
		}
	}
	if len(stdout) > 1 {
		c.fail(rawjson.JoinPath("outputs", stdout[1])+".stdout", "More than one output is printed alone: %s", strings.Join(stdout, ", ")).
			Suggest(`Leave "stdout": true with one of them`)
	}
}

func (c *checker) inputs() {
	var stdin []string
	for _, name := range slices.Sorted(maps.Keys(c.w.Inputs)) {
		path := rawjson.JoinPath("inputs", name)
		named := template.IsName(name)
		if !named {
			c.fail(path, "Invalid input name %q: no template could name it", name).Suggest("Begin with a letter or _, and go on with letters, digits, _ and -")
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
			c.warn(path, "Input %q is declared and never used", name).Suggest("Use it as ${%s}, or take it out", name)
		}
	}
	if len(stdin) > 1 {
		c.fail(rawjson.JoinPath("inputs", stdin[1])+".stdin", "More than one input takes standard input: %s", strings.Join(stdin, ", ")).
			Suggest(`Leave "stdin": true with one of them`)
	}
}

// instead adds what exists in the place of a name that does not: the nearest, or else all of them, as "what: …".
func (c *checker) instead(f *fault.Fault, name, what string, among []string) {
	f.Available = listed(among)
	if near, ok := c.nearest(name, among); ok {
		f.Suggest("Did you mean %q?", near)
	} else if len(among) > 0 {
		f.Suggest("%s: %s", what, strings.Join(f.Available, ", "))
	}
}

func (c *checker) nearest(name string, among []string) (string, bool) {
	if c.searches++; c.searches > maxSearches {
		return "", false
	}
	return fault.Nearest(name, among)
}

// listed is a list as a fault shows it.
func listed(names []string) []string {
	if more := len(names) - maxListed; more > 0 {
		return append(slices.Clone(names[:maxListed]), fmt.Sprintf("… and %d more", more))
	}
	return names
}
