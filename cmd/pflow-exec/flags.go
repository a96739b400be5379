package main

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/runflags"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// settingsFlags are the flags of run, start and resume that say how to run.
type settingsFlags struct {
	runflags.Flags
	Dir     string   `help:"Run in this folder." short:"C" placeholder:"DIR" complete:"dir"`
	AsItWas bool     `help:"Go on with the workflow and the values that the run began with, not with the workflow as it is now."`
	EnvFile string   `help:"Add a file of KEY=VALUE lines to the environment, where they replace variables of the same name." placeholder:"FILE"`
	Propose []string `help:"Only check an answer that a person will be asked for; repeatable." sep:"none" placeholder:"NODE=ANSWER"`
	runflags.Answers
}

// options returns the flags as options of the runner.
func (f *settingsFlags) options(app *cli.App) (runner.Options, error) {
	o := runner.Options{Jobs: f.Jobs, KeepGoing: f.KeepGoing, OnFailure: f.OnFailure, Sync: f.Sync, NoCache: f.NoCache, Dir: f.Dir, EnvFile: f.EnvFile, AsItWas: f.AsItWas, Answers: map[string]engine.Answer{}}
	f.ByPerson = f.ByPerson || app.AtTerminal()
	open, byNode, err := f.Parse()
	if err != nil {
		return o, err
	}
	o.Answer, o.By, o.Person = open, f.By, f.ByPerson
	for node, answer := range byNode {
		o.Answers[node] = engine.Answer(answer)
	}
	proposed := runflags.Answers{Approve: f.Propose, ByPerson: true} // one will answer
	if open, byNode, err = proposed.Parse(); err != nil {
		return o, err
	}
	if open != "" {
		return o, fault.New(fault.Usage, "--propose names no node").Suggest("Write --propose NODE=%s", open)
	}
	for node, answer := range byNode {
		if o.Proposals == nil {
			o.Proposals = map[string]engine.Answer{}
		}
		o.Proposals[node] = engine.Answer(answer)
	}
	limits, err := f.Limits()
	o.Timeout, o.Budget, o.Runners = limits.Timeout, limits.Budget, limits.Runners
	return o, err
}

// sourceFlags are the flags of run and start that say what to run.
type sourceFlags struct {
	Workflow string   `arg:"" help:"A path, the name of a saved workflow or a draft, or - for standard input." complete:"workflow"`
	Values   []string `arg:"" optional:"" name:"key=value" help:"Inputs: KEY=VALUE is text, KEY:=JSON a JSON value, KEY=@FILE a file's text." complete:"input"`
	Name     bool     `help:"WORKFLOW is a name, never a path."`
	Inputs   string   `help:"Read inputs from a file that holds one JSON object, or - for standard input." placeholder:"FILE"`
	Resume   string   `help:"Go on from a run: last for the newest run of the workflow, an id, a file with events, or - for events on standard input." placeholder:"RUN" complete:"run"`
	Only     *string  `help:"Run only this node, on what the workflow's last run has; build/compile is compile inside the node build." placeholder:"NODE" complete:"node"`
	From     *string  `help:"Run this node of the workflow's last run again, and all nodes that it leads to." placeholder:"NODE" complete:"node"`
	Key      *string  `name:"idempotency-key" help:"If a run with this key is live, attach to it instead of starting another." placeholder:"KEY"`
	DryRun   bool     `help:"Check everything, print what would run and what would be reused, and run nothing." short:"n"`
	settingsFlags
}

// load makes a request from the command line. checkpoint names the checkpoint file, or is nil.
func (f *sourceFlags) load(app *cli.App, host *runner.Host, checkpoint *string) (*runner.Request, error) {
	takers := f.stdinTakers()
	if takers > 1 {
		return nil, fault.New(fault.Usage, "Only one of WORKFLOW, --inputs, --resume, --env-file and KEY=@- can read standard input, got %d", takers).
			Suggest("Put the others into files")
	}
	if takers > 0 {
		host.Stdin = nil
	}
	o, err := f.options(app)
	if err != nil {
		return nil, err
	}
	if o.Answer != "" && f.Resume == "" && checkpoint == nil && f.Only == nil && f.From == nil {
		return nil, fault.New(fault.Usage, "--approve answers the question of a run, so it needs --resume or --checkpoint").
			Then(fault.Command("Answer a run that waits", "pflow-exec resume RUN --approve %s", o.Answer)).
			Suggest("To answer beforehand, name the node: --approve NODE=%s", o.Answer)
	}
	in, err := inputs(app, f.Inputs, f.Values)
	if err != nil {
		return nil, err
	}
	s := runner.Source{
		Workflow: f.Workflow, NameOnly: f.Name, Inputs: in, Resume: f.Resume, Checkpoint: checkpoint, Key: f.Key, DryRun: f.DryRun,
	}
	if s.Only, err = nodeFlag("--only", f.Only); err != nil {
		return nil, err
	}
	if s.From, err = nodeFlag("--from", f.From); err != nil {
		return nil, err
	}
	r, err := runner.Load(host, s, o)
	if err != nil || f.Resume != "" || f.Inputs != "" {
		return r, err
	}
	for _, name := range r.MissingInputs() {
		if err := cli.CheckInput(app, name, r.Name); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// nodeFlag returns the value of a flag that names a node, or "" if the flag is not given.
func nodeFlag(flag string, value *string) (string, error) {
	if value == nil {
		return "", nil
	}
	if *value == "" {
		return "", fault.New(fault.Usage, "%s needs the name of a node", flag)
	}
	return *value, nil
}

// stdinTakers counts the arguments that ask for standard input.
func (f *sourceFlags) stdinTakers() (takers int) {
	for _, name := range []string{f.Workflow, f.Inputs, f.Resume, f.EnvFile} {
		if name == "-" {
			takers++
		}
	}
	for _, v := range f.Values {
		if strings.HasSuffix(v, "=@-") {
			takers++
		}
	}
	return takers
}

// inputs parses the KEY=VALUE arguments. The runner reads the file.
func inputs(app *cli.App, file string, args []string) (runner.Inputs, error) {
	assignments, err := app.Assignments(args)
	if err != nil {
		return runner.Inputs{}, err
	}
	values := make(map[string]workflow.Given, len(assignments))
	for _, a := range assignments {
		values[a.Key] = workflow.Given{JSON: a.JSON, Text: a.Text}
	}
	return runner.Inputs{File: file, Values: values}, nil
}
