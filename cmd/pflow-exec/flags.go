package main

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// settingsFlags are the flags of run, start and resume that say how to run.
type settingsFlags struct {
	Jobs    int    `help:"Run at most N nodes at the same time; by default one for each processor." short:"j" placeholder:"N"`
	Timeout string `help:"Stop the run after this time: 30s, 5m, or seconds." placeholder:"DURATION"`
	budgetFlags
	RunsOn      []string `name:"runs-on" help:"Use this command line for a runner that nodes name, instead of that in settings.json; repeatable." sep:"none" placeholder:"NAME=COMMAND"`
	KeepGoing   bool     `help:"After a failure, go on with the nodes that do not depend on it." short:"k"`
	NoCache     bool     `help:"Run nodes even if the cache has their outputs, and cache the new ones."`
	Sync        bool     `help:"Write every event through to the disk before the run goes on."`
	Dir         string   `help:"Run in this folder." short:"C" placeholder:"DIR" complete:"dir"`
	EnvFile     string   `help:"Add a file of KEY=VALUE lines to the environment, where they replace variables of the same name." placeholder:"FILE"`
	Approve     []string `help:"Answer the question of the run to go on from: yes, no, or one of its choices. NODE=ANSWER answers that of one node, also beforehand; repeatable." sep:"none" placeholder:"[NODE=]ANSWER"`
	AutoApprove []string `help:"Answer yes to the question of a node before it is asked; repeatable." sep:"none" placeholder:"NODE" complete:"node"`
}

// options returns the flags as options of the runner.
func (f *settingsFlags) options() (runner.Options, error) {
	o := runner.Options{Jobs: f.Jobs, KeepGoing: f.KeepGoing, Sync: f.Sync, NoCache: f.NoCache, Dir: f.Dir, EnvFile: f.EnvFile}
	if err := f.answers(&o); err != nil {
		return o, err
	}
	if f.Jobs < 0 {
		return o, fault.New(fault.Usage, "--jobs must be at least 1, got %d", f.Jobs)
	}
	var err error
	if o.Budget, err = f.spending(); err != nil {
		return o, err
	}
	if o.Runners, err = f.runners(); err != nil {
		return o, err
	}
	o.Timeout, err = cli.Duration(f.Timeout)
	return o, err
}

// runners returns the command lines of --runs-on by their names.
func (f *settingsFlags) runners() (map[string]string, error) {
	if len(f.RunsOn) == 0 {
		return nil, nil
	}
	runners := map[string]string{}
	for _, given := range f.RunsOn {
		name, command, ok := strings.Cut(given, "=")
		if !ok {
			return nil, fault.New(fault.Usage, "--runs-on %q is not NAME=COMMAND", given)
		}
		if wrong := settings.CheckRunner(name, command); wrong != nil {
			return nil, fault.New(fault.Usage, "--runs-on: %s", wrong.Message)
		}
		runners[name] = command
	}
	return runners, nil
}

// budgetFlags replace fields of the workflow's budget.
type budgetFlags struct {
	BudgetUSD     *float64 `name:"budget-usd" help:"Stop the run, with those that it continues, when it has spent N dollars on models and agents." placeholder:"N"`
	BudgetTokens  *int64   `help:"Stop it when it has used N tokens." placeholder:"N"`
	BudgetMinutes *float64 `help:"Stop it when it has executed for N minutes." placeholder:"N"`
}

// spending returns the fields that are given.
func (f *budgetFlags) spending() (s event.Spending, err error) {
	amount := func(flag string, given *float64, to *float64) {
		if given == nil {
			return
		}
		if *to = *given; !(*to > 0 && *to <= workflow.MaxAmount) && err == nil {
			err = fault.New(fault.Usage, "%s must be a number above 0 and at most %d, got %v", flag, int(workflow.MaxAmount), *to)
		}
	}
	amount("--budget-usd", f.BudgetUSD, &s.USD)
	amount("--budget-minutes", f.BudgetMinutes, &s.Minutes)
	if f.BudgetTokens != nil {
		if s.Tokens = *f.BudgetTokens; (s.Tokens < 1 || s.Tokens > workflow.MaxTokens) && err == nil {
			err = fault.New(fault.Usage, "--budget-tokens must be a whole number of at least 1, got %d", s.Tokens)
		}
	}
	return s, err
}

// answers sets the answers to questions.
func (f *settingsFlags) answers(o *runner.Options) error {
	o.Answers = map[string]engine.Answer{}
	for _, given := range f.Approve {
		node, answer, named := strings.Cut(given, "=")
		if !named || strings.HasPrefix(given, "{") { // the values of fields may have an equals sign
			named = false
			node, answer = "", given
		}
		switch {
		case answer == "" || named && node == "":
			return fault.New(fault.Usage, "An answer to a question needs a text, and its node if that is named: yes, no, or one of the choices").
				SuggestCommand("Write --approve ANSWER, or --approve NODE=ANSWER for one node").SuggestTool("Give answers as {NODE: ANSWER}")
		case named:
			o.Answers[node] = engine.Answer{Text: answer, By: "--approve"}
		case o.Answer != "" && o.Answer != answer:
			return fault.New(fault.Usage, "--approve gives two answers: %q and %q", o.Answer, answer).Suggest("Name their nodes: --approve NODE=ANSWER")
		default:
			o.Answer = answer
		}
	}
	for _, node := range f.AutoApprove {
		if node == "" {
			return fault.New(fault.Usage, "--auto-approve needs the name of a node")
		}
		if other, ok := o.Answers[node]; ok && other.Text != "yes" {
			return fault.New(fault.Usage, "Node %s is answered %q by --approve, and yes by --auto-approve", node, other.Text).Suggest("Keep one of them")
		}
		o.Answers[node] = engine.Answer{Text: "yes", By: "--auto-approve"}
	}
	return nil
}

// sourceFlags are the flags of run and start that say what to run.
type sourceFlags struct {
	Workflow string   `arg:"" help:"A path, the name of a saved workflow or a draft, or - for standard input." complete:"workflow"`
	Values   []string `arg:"" optional:"" name:"key=value" help:"Inputs: KEY=VALUE is text, KEY:=JSON a JSON value, KEY=@FILE a file's text." complete:"input"`
	Name     bool     `help:"WORKFLOW is a name, never a path."`
	Inputs   string   `help:"Read inputs from a file that holds one JSON object, or - for standard input." placeholder:"FILE"`
	Resume   string   `help:"Go on from a run: its id, a file with its events, or - for events on standard input." placeholder:"RUN" complete:"run"`
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
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	if o.Answer != "" && f.Resume == "" && checkpoint == nil && f.Only == nil && f.From == nil {
		return nil, fault.New(fault.Usage, "--approve answers the question of a run, so it needs --resume or --checkpoint").
			SuggestCommand("Answer a run that waits: pflow-exec resume RUN --approve %s", o.Answer).
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
	return runner.Load(host, s, o)
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
