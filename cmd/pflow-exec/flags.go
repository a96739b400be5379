package main

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// settingsFlags say how a run is executed; run, start and resume share them.
type settingsFlags struct {
	Jobs      int     `help:"How many nodes run at the same time; by default as many as there are processors." short:"j" placeholder:"N"`
	Timeout   string  `help:"Stop the run after this time: 30s, 5m, or seconds." placeholder:"DURATION"`
	KeepGoing bool    `help:"After a failure go on with what does not depend on it." short:"k"`
	NoCache   bool    `help:"Run nodes with a cache too; what they put out is kept for later runs."`
	Sync      bool    `help:"Make every event reach the disk before the run goes on."`
	Dir       string  `help:"Run in this folder." short:"C" placeholder:"DIR"`
	EnvFile   string  `help:"Add the variables of a file of KEY=VALUE lines to the environment, where they win." placeholder:"FILE"`
	Approve   *string `help:"The answer to what the run resumed asked: yes, no, or one of the choices." placeholder:"ANSWER"`
}

// options returns the flags as the runner takes them.
func (f *settingsFlags) options() (runner.Options, error) {
	o := runner.Options{Jobs: f.Jobs, KeepGoing: f.KeepGoing, Sync: f.Sync, NoCache: f.NoCache, Dir: f.Dir, EnvFile: f.EnvFile}
	if f.Approve != nil {
		if o.Answer = *f.Approve; o.Answer == "" {
			return o, fault.New(fault.Usage, "--approve needs an answer: yes, no, or one of the choices")
		}
	}
	if f.Jobs < 0 {
		return o, fault.New(fault.Usage, "--jobs must be at least 1")
	}
	var err error
	o.Timeout, err = cli.Duration(f.Timeout)
	return o, err
}

// sourceFlags say what is run, on which values; run and start share them.
type sourceFlags struct {
	Workflow string   `arg:"" help:"A path, the name of a saved workflow or a draft, or - for standard input."`
	Values   []string `arg:"" optional:"" name:"key=value" help:"Inputs: KEY=VALUE is text, KEY:=JSON a JSON value, KEY=@FILE a file's text."`
	Name     bool     `help:"WORKFLOW is a name and nothing else."`
	Inputs   string   `help:"Read inputs from a file with one JSON object, or - for standard input." placeholder:"FILE"`
	Resume   string   `help:"Go on from a run: its id, a file with its events, or - for events on standard input." placeholder:"RUN"`
	Key      *string  `name:"idempotency-key" help:"When a run with this key is live, attach to it and start none." placeholder:"KEY"`
	DryRun   bool     `help:"Check all there is to check, tell what would run and what be reused, and run nothing." short:"n"`
	settingsFlags
}

// load makes a request of the command line.
func (f *sourceFlags) load(app *cli.App, host *runner.Host) (*runner.Request, error) {
	takers := f.stdinTakers()
	if takers > 1 {
		return nil, fault.New(fault.Usage, "Standard input can be read for one purpose only: WORKFLOW, --inputs, --resume, --env-file or one KEY=@-").
			Suggest("Put the others into files")
	}
	if takers > 0 {
		host.Stdin = nil
	}
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	if o.Answer != "" && f.Resume == "" {
		return nil, fault.New(fault.Usage, "--approve answers what a run has asked: there is none without --resume").
			Suggest("Go on with the run that waits: pflow-exec resume RUN --approve %s", o.Answer)
	}
	in, err := inputs(app, f.Inputs, f.Values)
	if err != nil {
		return nil, err
	}
	return runner.Load(host, runner.Source{
		Workflow: f.Workflow, NameOnly: f.Name, Inputs: in, Resume: f.Resume, Key: f.Key, DryRun: f.DryRun,
	}, o)
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

// inputs reads the values of a command line. Those of the file are left to the runner.
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
