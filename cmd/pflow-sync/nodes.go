package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type nodesCommand struct{}

// Help is the longer text of --help.
func (nodesCommand) Help() string {
	return `Finds the programs pflow-node-NAME in the home's nodes folder and then on PATH, the first of a name wins, asks each
--describe, and makes it the node type NAME. Programs that are gone are removed; one that cannot be described keeps the
node type it was, and the exit status is 1. Answers
  {"programs_found":N,"registered":N,"added":[NAME],"updated":[NAME],"removed":[NAME],"failed":[{"name","path","error"}]}.`
}

// nodesAnswer is what became of the programs. Names are those of node types, sorted.
type nodesAnswer struct {
	Found int `json:"programs_found"`
	// Registered is how many programs are node types now.
	Registered int `json:"registered"`
	changed
	Failed []failedProgram `json:"failed"`
}

// changed is what changed in the registry.
type changed struct {
	Added   []string `json:"added"`
	Updated []string `json:"updated"`
	Removed []string `json:"removed"`
	// Overwritten were other node types before.
	Overwritten []string `json:"overwritten,omitempty"`
}

// failedProgram is one that could not be made a node type.
type failedProgram struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Kept says that the node type it was before stays.
	Kept  bool         `json:"kept,omitempty"`
	Error *fault.Fault `json:"error"`
}

// describeLimit is how long a program may take to describe itself.
const describeLimit = 10 * time.Second

// Run finds the programs, asks them, and writes what they say into the registry in one step.
func (c *nodesCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	process.AdoptOrphans()
	found := findPrograms(h.Path("nodes"), app.Getenv("PATH"), app.Warn)
	types := make([]nodetype.Type, len(found))
	faults := make([]*fault.Fault, len(found))
	slots := make(chan struct{}, atOnce)
	var asking sync.WaitGroup
	for i, p := range found {
		asking.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			var err error
			types[i], err = p.describe(app.Context, app.Env, describeLimit)
			faults[i] = fault.From(err)
		})
	}
	asking.Wait()
	if err := app.Context.Err(); err != nil {
		return err
	}
	return register(app, registry.Open(h), found, types, faults)
}

// register writes the types of the programs that have no fault, and answers.
func register(app *cli.App, reg *registry.Registry, found []program, types []nodetype.Type, faults []*fault.Fault) error {
	answer := nodesAnswer{Found: len(found), Failed: []failedProgram{}}
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
	for i := range answer.Failed {
		answer.Failed[i].Kept = slices.Contains(kept, answer.Failed[i].Name)
	}
	answer.Registered = len(good) + len(kept)
	answer.changed = changed{listOf(change.Added), listOf(change.Updated), listOf(change.Removed), change.Overwritten}
	return answer.report(app)
}

// listOf is a list that is written as [] when it is empty.
func listOf(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// report prints the answer. A program that failed makes the whole a failure.
func (a *nodesAnswer) report(app *cli.App) error {
	for _, name := range a.Overwritten {
		app.Warn("%s was another node type before and is a program's now", name)
	}
	for _, failed := range a.Failed {
		f := *failed.Error
		f.Message = failed.Path + ": " + f.Message
		app.Complain(&f)
		if failed.Kept {
			app.Warn("%s stays the node type that it was", failed.Name)
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
