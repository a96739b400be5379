package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/journal"
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

// request is a run that was asked for, with all that was to be read already read: it can be handed to another process.
type request struct {
	Name string `json:"name"`
	// File is the name under which the source is read: its end can say of which form it is.
	File   string `json:"file"`
	Path   string `json:"path,omitempty"`
	Saved  bool   `json:"saved,omitempty"`
	Source []byte `json:"source"`
	// known says that the run's id is told before its first event: then the run stays, whatever becomes of it.
	known bool
	// file is the source read, where this process has read it.
	file   *workflow.File
	Inputs map[string]given `json:"inputs,omitempty"`
	// Stdin is what was piped in for the input that takes it.
	Stdin *string `json:"stdin,omitempty"`
	// Resume is a run's id; Events are a run's events, nil when none were given.
	Resume string `json:"resume,omitempty"`
	Events []byte `json:"events"`

	Jobs      int           `json:"jobs"`
	Timeout   time.Duration `json:"timeout,omitempty"`
	KeepGoing bool          `json:"keep_going,omitempty"`
	Sync      bool          `json:"sync,omitempty"`
	Dir       string        `json:"dir"`
	// Answer is the answer to the questions that the run resumed left open.
	Answer string `json:"answer,omitempty"`
	// NoCache runs every node, whatever the cache has.
	NoCache bool `json:"no_cache,omitempty"`
	// Env are variables that the environment is to have besides.
	Env []string `json:"env,omitempty"`
	// Key is an idempotency key, empty for none.
	Key string `json:"key,omitempty"`
	// Again says that the workflow and its inputs are those of the run resumed: if that has succeeded, all is done.
	Again bool `json:"-"`
	// DryRun says that nothing is to be run or changed.
	DryRun bool `json:"-"`
	// DirGiven says that the folder was asked for, and wins over that of the run resumed.
	DirGiven bool `json:"dir_given,omitempty"`
}

type given struct {
	JSON json.RawMessage `json:"json,omitempty"`
	Text string          `json:"text,omitempty"`
}

// read makes a request of a command line. Everything that the command line names is read here.
func (f *sourceFlags) read(app *cli.App, h *home.Home) (*request, error) {
	if err := f.oneStdin(); err != nil {
		return nil, err
	}
	r, err := f.settingsFlags.read(app)
	if err != nil {
		return nil, err
	}
	if r.Answer != "" && f.Resume == "" {
		return nil, fault.New(fault.Usage, "--approve answers what a run has asked: there is none without --resume").
			Suggest("Go on with the run that waits: pflow-exec resume RUN --approve %s", r.Answer)
	}
	r.DryRun = f.DryRun
	if f.Key != nil {
		if err := journal.CheckKey(*f.Key); err != nil {
			return nil, err
		}
		r.Key = *f.Key
	}
	file, entry, err := library.Open(h).Open(f.Workflow, f.Name, app.ReadArgument)
	if err != nil {
		return nil, err
	}
	r.Name, r.File, r.Source, r.file = file.Name, file.Name, file.Source, file
	if entry != nil {
		r.Name, r.Saved = entry.Name, entry.Saved
		if entry.Hidden {
			app.Warn("a draft named %s is hidden by the saved workflow", entry.Name)
		}
	} else if f.Workflow != "-" {
		if r.Path, err = filepath.Abs(f.Workflow); err != nil {
			return nil, fault.From(err)
		}
	}
	if r.Inputs, err = readInputs(app, f.Inputs, f.Values); err != nil {
		return nil, err
	}
	if err := r.readResume(app, h, f.Resume); err != nil {
		return nil, err
	}
	if !f.takesStdin() {
		if r.Stdin, err = pipedInput(app, file.Workflow, r.Inputs); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// resolve is a path as the run sees it: relative to its folder. A name stays as it is.
func (r *request) resolve(ref string) string {
	if filepath.IsAbs(ref) || !strings.ContainsRune(ref, filepath.Separator) && filepath.Ext(ref) == "" {
		return ref
	}
	return filepath.Join(r.Dir, ref)
}

// oneStdin refuses two takers of standard input.
func (f *sourceFlags) oneStdin() error {
	takers := 0
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
	if takers > 1 {
		return fault.New(fault.Usage, "Standard input can be read for one purpose only: WORKFLOW, --inputs, --resume, --env-file or one KEY=@-").
			Suggest("Put the others into files")
	}
	return nil
}

func (f *sourceFlags) takesStdin() bool {
	for _, v := range f.Values {
		if strings.HasSuffix(v, "=@-") {
			return true
		}
	}
	return f.Workflow == "-" || f.Inputs == "-" || f.Resume == "-" || f.EnvFile == "-"
}

// readResume tells what --resume names: events on standard input, a file with events, or a run.
func (r *request) readResume(app *cli.App, h *home.Home, name string) (err error) {
	if name == "" {
		return nil
	}
	info, statErr := os.Stat(name)
	if name == "-" || statErr == nil && !info.IsDir() || strings.Contains(name, "/") {
		r.Events, err = app.ReadArgument(name)
		return err
	}
	rec, err := journal.Find(h, name)
	if err != nil {
		return err
	}
	r.Resume = rec.ID
	return nil
}

// read makes the part of a request that says how to run.
func (f *settingsFlags) read(app *cli.App) (*request, error) {
	r := &request{Jobs: f.Jobs, KeepGoing: f.KeepGoing, Sync: f.Sync, NoCache: f.NoCache, DirGiven: f.Dir != ""}
	if f.Approve != nil {
		if r.Answer = *f.Approve; r.Answer == "" {
			return nil, fault.New(fault.Usage, "--approve needs an answer: yes, no, or one of the choices")
		}
	}
	if r.Jobs < 0 {
		return nil, fault.New(fault.Usage, "--jobs must be at least 1")
	}
	if r.Jobs == 0 {
		r.Jobs = runtime.GOMAXPROCS(0)
	}
	var err error
	if r.Env, err = readEnvFile(app, f.EnvFile); err != nil {
		return nil, err
	}
	if r.Timeout, err = cli.Duration(f.Timeout); err != nil {
		return nil, err
	}
	if r.Dir, err = filepath.Abs(f.Dir); err != nil {
		return nil, fault.From(err)
	}
	if info, err := os.Stat(r.Dir); err != nil || !info.IsDir() {
		return nil, fault.New(fault.Usage, "There is no folder %s", f.Dir)
	}
	return r, nil
}

// readInputs reads the values that are given: a JSON object from a file, and KEY=VALUE, which win over it.
func readInputs(app *cli.App, file string, values []string) (map[string]given, error) {
	inputs := map[string]given{}
	if file != "" {
		b, err := app.ReadArgument(file)
		if err != nil {
			return nil, err
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(b, &object); err != nil || object == nil {
			return nil, fault.New(fault.Usage, "--inputs %s holds no JSON object", file).Suggest(`Write it as {"name": value, …}`)
		}
		for k, v := range object {
			inputs[k] = given{JSON: v}
		}
	}
	assignments, err := app.Assignments(values)
	if err != nil {
		return nil, err
	}
	for _, a := range assignments {
		inputs[a.Key] = given{JSON: a.JSON, Text: a.Text}
	}
	return inputs, nil
}

// pipedInput reads standard input when an input takes it, is not given otherwise, and something is piped in.
func pipedInput(app *cli.App, w *workflow.Workflow, inputs map[string]given) (*string, error) {
	for name, in := range w.Inputs {
		if _, ok := inputs[name]; ok || !in.Stdin {
			continue
		}
		if info, err := app.Stdin.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil, nil // a terminal, or /dev/null: nothing is piped in
		}
		b, err := io.ReadAll(app.Stdin)
		if err != nil {
			return nil, fault.New(fault.Usage, "Cannot read standard input: %v", err)
		}
		if !utf8.Valid(b) {
			return nil, fault.New(fault.Usage, "Standard input is no UTF-8 text, and input %q takes it", name).Suggest("Give the path of a file instead")
		}
		text := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
		return &text, nil
	}
	return nil, nil
}

// given gives the values as the workflow's inputs take them.
func (r *request) given(w *workflow.Workflow) map[string]workflow.Given {
	values := make(map[string]workflow.Given, len(r.Inputs)+1)
	for name, g := range r.Inputs {
		values[name] = workflow.Given{JSON: g.JSON, Text: g.Text}
	}
	if r.Stdin != nil {
		for name, in := range w.Inputs {
			if in.Stdin {
				values[name] = workflow.Given{Text: *r.Stdin}
			}
		}
	}
	return values
}
