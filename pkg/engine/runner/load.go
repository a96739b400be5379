package runner

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/mcp/source"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Source names what to run.
type Source struct {
	// Workflow is a path, the name of a saved workflow or a draft, SOURCE:ID for a workflow of a source, or "-" for standard input. With
	// NameOnly it is a name.
	Workflow string
	NameOnly bool
	Inputs   Inputs
	// Resume names the run to go on from: by its id, "last" for the newest run of the workflow, by a file with its events, or "-" for
	// events on standard input. It is empty for a new run.
	Resume string
	// Only is the path of the only node to run, on what the run to go on from has. From is the path of a node that runs again, with
	// all nodes that it leads to. At most one of them is not empty. Without Resume the run to go on from is the last one of the
	// workflow.
	Only, From string
	// Checkpoint names a file with events to go on from, to which those of the new run are appended, or is nil. The file may be
	// empty or missing.
	Checkpoint *string
	// Key is an idempotency key, or nil.
	Key *string
	// DryRun asks what would run, see Launch.DryRun.
	DryRun bool
}

// Inputs name the values of a workflow's inputs.
type Inputs struct {
	// File names a file that holds one JSON object, or "-" for standard input. It may be empty.
	File string
	// Values win over those of the file.
	Values map[string]workflow.Given
}

// Options say how to run.
type Options struct {
	// Jobs is how many nodes run at the same time; 0 is one for each processor.
	Jobs int
	// Timeout stops the run when it is over; 0 is no limit.
	Timeout time.Duration
	// Budget replaces fields of the workflow's budget; a field that is 0 does not.
	Budget event.Spending
	// Runners are the command lines of runners, by their names. They win over those of the settings.
	Runners   map[string]string
	KeepGoing bool
	// OnFailure is workflow.FinishOnFailure, workflow.StopOnFailure, or empty for what the workflow says.
	OnFailure string
	NoCache   bool
	Sync      bool
	// Dir is the folder to run in; empty for this process's, or that of the run to go on from.
	Dir string
	// EnvFile names a file of KEY=VALUE lines for the environment, or "-" for standard input. It may be empty.
	EnvFile string
	// Answer answers the open questions of the run to go on from. It may be empty.
	Answer string
	// By is who gave it, or empty for the flag. Person is set if a person did.
	By     string
	Person bool
	// Answers answers questions beforehand, by the paths of their nodes.
	Answers map[string]engine.Answer
	// Proposals are answers that are only checked.
	Proposals map[string]engine.Answer
	// RetryFailed runs failed items and handled failures of the run to go on from again. It is for LoadRun.
	RetryFailed bool
	// AsItWas goes on with what the run began with, its workflow and the values of its inputs.
	AsItWas bool
}

// Load reads everything that a source and its options name.
func Load(host *Host, s Source, o Options) (*Request, error) {
	r, err := o.request(host)
	if err != nil {
		return nil, err
	}
	r.DryRun = s.DryRun
	if s.Key != nil {
		if err := journal.CheckKey(*s.Key); err != nil {
			return nil, err
		}
		r.Key = *s.Key
	}
	if s.Checkpoint != nil {
		if r.Checkpoint, err = checkpointPath(host.Home, *s.Checkpoint, s.Resume); err != nil {
			return nil, err
		}
	}
	if o.AsItWas && !isEvents(s.Resume) {
		if s.Resume == "" || s.Only != "" || s.From != "" || s.Checkpoint != nil {
			return nil, fault.New(fault.Usage, "--as-it-was goes on from a run, and from all of it").Suggest("Name the run with --resume RUN, without --only, --from and --checkpoint")
		}
		return s.loadOwn(host, o, nil)
	}
	if err := r.loadWorkflow(host, s); err != nil {
		if s.Resume == "" {
			return nil, err
		}
		return s.loadOwn(host, o, fault.From(err))
	}
	if r.Inputs, err = s.Inputs.load(host); err != nil {
		return nil, err
	}
	if err := r.loadAgain(host, &s); err != nil {
		return nil, err
	}
	if err := r.loadOrigin(host, s.Resume); err != nil {
		return nil, err
	}
	r.Stored = o.AsItWas // the workflow that is given is the one that the events are of
	if r.Stdin, err = pipedInput(host, r.file.Workflow, r.Inputs); err != nil && r.EventsSpooled {
		_ = os.Remove(r.Events)
	}
	return r, err
}

// LoadRun makes a request that goes on from a run with its workflow as it is now: that of the file or name that the run began with. If
// that is gone or the workflow came through a pipe, and with Options.AsItWas, it is the workflow that the run has stored; secrets that are
// written in the workflow are read from its file again. The run is named by its id, a prefix of the id that no other run has, or "last".
func LoadRun(host *Host, run string, in Inputs, o Options) (*Request, error) {
	rec, err := journal.Find(host.Home, run)
	if err != nil {
		return nil, err
	}
	named := rec
	rec = rec.ResumePoint()
	r, err := o.request(host)
	if err != nil {
		return nil, err
	}
	r.Named = named.ID
	if r.Inputs, err = in.load(host); err != nil {
		return nil, err
	}
	if r.Source, err = rec.Definition(); err != nil {
		return nil, err
	}
	first, _, err := rec.FirstAndLast()
	if err != nil {
		return nil, err
	}
	r.Name, r.File, r.Resume = "workflow.json", "workflow.json", rec.ID
	r.Folder = r.Dir
	if first == nil || first.Event != event.RunStarted || first.Workflow == nil {
		r.Stored = true
		return r, nil
	}
	r.Name, r.Path = first.Workflow.Name, first.Workflow.Path
	r.Saved, r.Draft = first.Workflow.Source == event.SourceLibrary, first.Workflow.Source == event.SourceDraft // as the statistics count it
	if err := r.repeatAgain(named.LastSuccessor(), rec, first, o.RetryFailed); err != nil {
		return nil, err
	}
	if !o.AsItWas {
		s := Source{Workflow: r.Path}
		if r.Path == "" {
			s = Source{Workflow: r.Name, NameOnly: true}
		}
		if gone := s.gone(host); gone == "" {
			return r, r.loadCurrent(host, s)
		} else if !named.Held() {
			host.Warn("run %s goes on with the workflow that it began with: %s", rec.ID, gone)
		}
	}
	r.Stored = true
	r.Folder = r.folder(host, first)
	if bytes.Contains(r.Source, []byte(redact.Mark)) {
		r.Source, err = restoreLiterals(host, rec.ID, r.Source, *first.Workflow)
	}
	return r, err
}

// gone returns why the workflow of a run cannot be read again, or "".
func (s Source) gone(host *Host) string {
	if !s.NameOnly {
		if _, err := os.Stat(s.Workflow); errors.Is(err, fs.ErrNotExist) {
			return "the file " + s.Workflow + " no longer exists"
		}
		return ""
	}
	if s.Workflow == "-" {
		return "it came from standard input"
	}
	if from, _, ok := source.Split(s.Workflow); ok {
		if _, err := source.Find(host.Home, from); err != nil && fault.From(err).Type == fault.NotFound {
			return "there is no source " + from + " any more"
		}
		return ""
	}
	if exists(host.Home, s.Workflow) {
		return ""
	}
	return "no workflow is named " + s.Workflow + " any more"
}

// loadCurrent replaces the workflow of the run to go on from by what its file or name has now.
func (r *Request) loadCurrent(host *Host, s Source) error {
	name := r.Name
	r.Saved, r.Draft, r.Current, r.Once = false, false, true, true
	if err := r.loadWorkflow(host, s); err != nil {
		return r.suggestAsItWas(fault.From(err))
	}
	r.Name = name
	return nil
}

// suggestAsItWas adds to the fault of a workflow that a run cannot go on with how to go on without it.
func (r *Request) suggestAsItWas(f *fault.Fault) *fault.Fault {
	if r.Resume == "" || r.Stored {
		return f
	}
	return f.Then(fault.Step{Do: fault.DoAsItWas, Run: r.Resume})
}

// folder returns the folder that the paths in the workflow of a run start from.
func (r *Request) folder(host *Host, first *event.Event) string {
	if first.Workflow.Path != "" {
		return filepath.Dir(first.Workflow.Path)
	}
	if entry, err := library.Open(host.Home).Find(first.Workflow.Name); err == nil {
		return entry.Dir()
	}
	if r.DirGiven || first.Cwd == "" {
		return r.Dir
	}
	return first.Cwd
}

// request returns a request with the options in it.
func (o Options) request(host *Host) (*Request, error) {
	r := &Request{
		Jobs: o.Jobs, Timeout: o.Timeout, Budget: o.Budget, Runners: o.Runners, KeepGoing: o.KeepGoing, OnFailure: o.OnFailure, Sync: o.Sync, NoCache: o.NoCache, Answer: o.Answer, By: o.By, Person: o.Person, Answers: o.Answers, Proposals: o.Proposals, DirGiven: o.Dir != "",
	}
	if r.Jobs == 0 {
		r.Jobs = runtime.GOMAXPROCS(0)
	}
	var err error
	if r.Env, err = readEnvFile(host, o.EnvFile); err != nil {
		return nil, err
	}
	if r.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, fault.From(err)
	}
	if info, err := os.Stat(r.Dir); err != nil || !info.IsDir() {
		return nil, fault.New(fault.Usage, "The folder %s does not exist", o.Dir)
	}
	return r, nil
}

// loadWorkflow reads and parses the workflow.
func (r *Request) loadWorkflow(host *Host, s Source) error {
	if ok, err := r.loadSource(host, s.Workflow, s.NameOnly); ok {
		return err
	}
	file, entry, err := library.Open(host.Home).Open(s.Workflow, s.NameOnly, r.Dir, host.Read)
	if err != nil {
		return err
	}
	r.Name, r.File, r.Source, r.file = file.Name, file.Name, file.Source, file
	r.Folder, r.Files = file.Dir, file.Included()
	if entry == nil {
		if s.Workflow != "-" {
			if r.Path, err = filepath.Abs(s.Workflow); err != nil {
				return fault.From(err)
			}
		}
		return nil
	}
	r.Name, r.Saved, r.Draft = entry.Name, entry.Saved, !entry.Saved
	if entry.Hidden {
		host.Warn("a draft named %s is hidden by the saved workflow", entry.Name)
	}
	return nil
}

// isEvents reports whether what names a run to go on from names its events: a file, or "-".
func isEvents(name string) bool {
	info, err := os.Stat(name)
	return name == "-" || err == nil && !info.IsDir() || strings.Contains(name, "/")
}

// loadOrigin sets Events if the run to go on from is named by a file or "-", else Resume. A stream that can be read only once
// is stored in a file.
func (r *Request) loadOrigin(host *Host, name string) (err error) {
	if name == "" {
		return nil
	}
	if isEvents(name) {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			r.Events, err = filepath.Abs(name)
			return err
		}
		stream, err := host.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = stream.Close() }()
		r.EventsSpooled = true
		r.Events, err = journal.SpoolEvents(host.Home, stream)
		return err
	}
	if name == "last" {
		if r.Path == "" && r.Name == "-" {
			return r.unnamed(host)
		}
		r.Resume, err = r.newestRun(host)
		return err
	}
	rec, err := journal.Find(host.Home, name)
	if f := fault.From(err); f != nil && f.Type == fault.NotFound && strings.Contains(name, ".") {
		return f.Suggest("There is no file %s here either", name)
	}
	if err != nil {
		return err
	}
	r.Resume = rec.ID
	return nil
}

// unnamed returns the fault of a workflow from standard input that is to go on from its last run: it has no name by which runs could be
// told apart.
func (r *Request) unnamed(host *Host) error {
	f := fault.New(fault.Usage, "A workflow from standard input has no last run to go on from").Suggest("Name the run").Then(fault.Command("Go on from it", "pflow-exec run - --resume RUN"))
	if rec, err := journal.Find(host.Home, "last"); err == nil {
		f.Suggest("The newest run is %s", rec.ID)
	}
	return f
}
