package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/terminal/completion"
)

// offeredRuns is how many of the newest runs completions offer.
const offeredRuns = 25

// values returns for completions the newest runs, the nodes and the inputs of the run that of[0] names, and the statuses of runs.
func values(app *cli.App, kind string, of []string) (list []completion.Candidate, err error) {
	h, err := app.Home()
	if err != nil {
		return nil, err
	}
	runs := reader.Open(h)
	switch kind {
	case "status":
		for _, s := range reader.Statuses() {
			list = append(list, completion.Candidate{Value: string(s)})
		}
	case "run":
		for _, s := range runs.Latest(offeredRuns) {
			c := completion.Candidate{Value: s.RunID}
			if s.Workflow != "" {
				c.Description = fmt.Sprintf("%s %s", s.Workflow, s.Status)
			}
			if s.StartedAt != nil {
				c.Description += s.StartedAt.Local().Format(" " + time.DateTime)
			}
			list = append(list, c)
		}
		if len(list) > 0 {
			list = append([]completion.Candidate{{Value: "last", Description: list[0].Description}}, list...)
		}
	case "run-node", "run-input":
		if len(of) == 0 || of[0] == "" {
			return nil, nil
		}
		run, err := runs.Find(of[0])
		if err != nil {
			return nil, err
		}
		state, _, err := run.History()
		if err != nil {
			return nil, err
		}
		if kind == "run-input" {
			return inputsOf(state.Started), nil
		}
		for n := range state.All() {
			list = append(list, completion.Candidate{Value: n.Path, Description: string(n.State)})
		}
	}
	return list, nil
}

// inputsOf returns the inputs that a run was started with. Their types are those of the values.
func inputsOf(started *event.Event) (list []completion.Candidate) {
	var given map[string]any
	if started == nil || json.Unmarshal(started.Inputs, &given) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		typ := ""
		if _, ok := given[name].(bool); ok {
			typ = "boolean"
		}
		list = append(list, completion.Assignment(name, typ, "", nil))
	}
	return list
}
