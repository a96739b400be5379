package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type nodesCommand struct{}

// Help returns the longer text of --help.
func (nodesCommand) Help() string {
	return `Finds the programs pflow-node-NAME in the home's nodes folder and on PATH (the first of a name wins), runs each with
	--describe, and makes it the node type NAME. Node types of programs that are gone are removed. If a program cannot be
	described, its previous node type is kept and the exit status is 1. Prints
  {"programs_found":N,"registered":N,"added":[NAME],"updated":[NAME],"removed":[NAME],"failed":[{"name","path","error"}]}.`
}

// nodesOutput is the output of nodes. Names are those of node types, sorted.
type nodesOutput struct {
	Found int `json:"programs_found"`
	// Registered is the number of programs that are node types now.
	Registered int `json:"registered"`
	changed
	Failed []failedProgram `json:"failed"`
}

// changed is what changed in the registry.
type changed struct {
	Added   []string `json:"added"`
	Updated []string `json:"updated"`
	Removed []string `json:"removed"`
	// Overwritten names the node types that were not a program before.
	Overwritten []string `json:"overwritten,omitempty"`
}

// failedProgram is a program that could not be made a node type.
type failedProgram struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Kept means that its previous node type is kept.
	Kept  bool         `json:"kept,omitempty"`
	Error *fault.Fault `json:"error"`
}

// describeLimit is the most time that a program may take to describe itself.
const describeLimit = 10 * time.Second

// Run finds the programs, has them describe themselves, and writes their node types to the registry in one step.
func (c *nodesCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	children := newChildren(app, h)
	defer children.end()
	found := findPrograms(h.Path("nodes"), app.Getenv("PATH"), app.Warn)
	types := make([]nodetype.Type, len(found))
	faults := make([]*fault.Fault, len(found))
	var programs errgroup.Group
	programs.SetLimit(atOnce)
	for i, p := range found {
		programs.Go(func() error {
			var err error
			types[i], err = p.describe(app.Context, app.Env, children.mark, describeLimit)
			faults[i] = fault.From(err)
			return nil
		})
	}
	_ = programs.Wait() // each has its own fault
	if err := app.Context.Err(); err != nil {
		return err
	}
	return register(app, registry.Open(h), found, types, faults)
}

// register writes the types of the programs without a fault to the registry, and prints the output.
func register(app *cli.App, reg *registry.Registry, found []program, types []nodetype.Type, faults []*fault.Fault) error {
	answer := nodesOutput{Found: len(found), Failed: []failedProgram{}}
	var good []nodetype.Type
	var keep []string
	for i, p := range found {
		if faults[i] == nil {
			good = append(good, types[i])
			continue
		}
		keep = append(keep, p.name)
		answer.Failed = append(answer.Failed, failedProgram{Name: p.name, Path: p.path, Error: faults[i]})
	}
	change, kept, err := reg.ReplacePrograms(app.Context, good, keep)
	if err != nil {
		return err
	}
	warnCorrupt(app, reg, change.Corrupt)
	for i := range answer.Failed {
		answer.Failed[i].Kept = slices.Contains(kept, answer.Failed[i].Name)
	}
	answer.Registered = len(good) + len(kept)
	answer.changed = changed{emptyIfNil(change.Added), emptyIfNil(change.Updated), emptyIfNil(change.Removed), change.Overwritten}
	return answer.report(app)
}

// emptyIfNil returns names, or an empty list that JSON writes as [] if it is nil.
func emptyIfNil(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// report prints the output. The exit status is 1 if a program failed.
func (a *nodesOutput) report(app *cli.App) error {
	for _, name := range a.Overwritten {
		app.Warn("%s was another node type and is now a program", name)
	}
	for _, failed := range a.Failed {
		f := *failed.Error
		f.Message = failed.Path + ": " + f.Message
		app.Complain(&f)
		if failed.Kept {
			app.Warn("%s keeps its previous node type", failed.Name)
		}
	}
	err := app.Document(a, func(w io.Writer) {
		for _, part := range []struct {
			what  string
			names []string
		}{{"added", a.Added}, {"updated", a.Updated}, {"removed", a.Removed}} {
			for _, name := range part.names {
				_, _ = fmt.Fprintf(w, "%s %s\n", part.what, name)
			}
		}
		_, _ = fmt.Fprintf(w, "%d programs found, %d are node types\n", a.Found, a.Registered)
	})
	if err == nil && len(a.Failed) > 0 {
		return cli.Status(1)
	}
	return err
}
