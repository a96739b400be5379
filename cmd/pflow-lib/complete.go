package main

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/terminal/completion"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// values returns for completions the names of workflows and of node types, and the inputs and nodes of the workflow that of[0] names.
func values(app *cli.App, kind string, of []string) ([]completion.Candidate, error) {
	lib, types, err := open(app)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "workflow":
		list := named(lib, true)
		saved := len(list)
		for _, c := range named(lib, false) {
			if _, hidden := slices.BinarySearchFunc(list[:saved], c.Value, func(s completion.Candidate, name string) int { return strings.Compare(s.Value, name) }); !hidden {
				list = append(list, c)
			}
		}
		return list, nil
	case "saved":
		return named(lib, true), nil
	case "draft":
		return named(lib, false), nil
	case "type":
		names, err := types.Names()
		list := make([]completion.Candidate, len(names))
		for i, name := range names {
			list[i].Value = name
			if t, ok := nodetype.Builtin(name); ok {
				list[i].Description = t.Description
			}
		}
		return list, err
	}
	if len(of) == 0 || of[0] == "" {
		return nil, nil
	}
	if kind == "parameter" {
		t, _, err := types.Type(of[0])
		return parameters(t), err
	}
	file, _, err := lib.Open(of[0], false, ".", readRegular)
	if file == nil || file.Workflow == nil {
		return nil, err
	}
	if kind == "node" {
		return nodes(file.Workflow), nil
	}
	return inputs(file.Workflow), nil
}

// named returns the names of the saved workflows or of the drafts, sorted.
func named(lib *library.Library, saved bool) (list []completion.Candidate) {
	description := "draft"
	if saved {
		description = "saved workflow"
	}
	for _, name := range lib.Names(saved) {
		list = append(list, completion.Candidate{Value: name, Description: description})
	}
	return list
}

// inputs returns the inputs of a workflow, sorted: first those that a run needs.
func inputs(w *workflow.Workflow) (needed []completion.Candidate) {
	var optional []completion.Candidate
	for _, name := range slices.Sorted(maps.Keys(w.Inputs)) {
		in := w.Inputs[name]
		c := completion.Assignment(name, in.Type, in.Description, nil)
		if in.IsRequired() {
			needed = append(needed, c)
		} else {
			optional = append(optional, c)
		}
	}
	return append(needed, optional...)
}

// parameters returns the parameters of a node type.
func parameters(t nodetype.Type) (list []completion.Candidate) {
	for _, p := range t.Params {
		list = append(list, completion.Assignment(p.Name, p.Type, p.Description, p.Enum))
	}
	return list
}

// nodes returns the nodes of a workflow, in the order of the file.
func nodes(w *workflow.Workflow) (list []completion.Candidate) {
	for _, n := range w.Nodes {
		list = append(list, completion.Candidate{Value: n.ID, Description: n.Type})
	}
	return list
}

// readRegular reads a file that is certain to end: a completion must not wait for a FIFO.
func readRegular(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fault.Known(fault.NotFound, "FileNotFoundError", "There is no file %s", name)
	}
	return os.ReadFile(name)
}
