package runner

import (
	"maps"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Request is a run that is asked for. Everything that it names has been read, so it can cross to another process as JSON.
type Request struct {
	// Name is what the run calls its workflow, "-" for one from standard input.
	Name string `json:"name"`
	// File is the name under which Source is parsed: its ending can say in which form the workflow is written.
	File string `json:"file"`
	// Path is the absolute path of the workflow's file, or empty.
	Path string `json:"path,omitempty"`
	// Saved is set for a saved workflow, and Draft for a draft that was named; both have statistics.
	Saved bool `json:"saved,omitempty"`
	Draft bool `json:"draft,omitempty"`
	// Source is the workflow's file, Folder the one that the paths in it start from, and Files are the files that it refers to.
	Source []byte              `json:"source"`
	Folder string              `json:"folder"`
	Files  []workflow.Included `json:"files,omitempty"`
	// file is Source parsed, or nil in another process than the one that has read it.
	file *workflow.File
	// single is set if LoadNode has made the workflow, so that places in it mean nothing.
	single bool

	Inputs map[string]workflow.Given `json:"inputs,omitempty"`
	// Stdin is the text for the input that takes standard input, or nil if nothing was piped in.
	Stdin *string `json:"stdin,omitempty"`

	// Resume is the id of the run to go on from, Events is the path of a file with a run's events to go on from; both are empty
	// for a new run. A file that was made for the request is removed when it has been opened.
	Resume        string `json:"resume,omitempty"`
	Events        string `json:"events,omitempty"`
	EventsSpooled bool   `json:"events_spooled,omitempty"`
	// Checkpoint is the path of the file to go on from and to append the events to, or empty. It does not cross to another
	// process.
	Checkpoint string `json:"-"`
	// Stored is set if the workflow is the one that the run to go on from has stored. Current is set if it is that of the run as it is
	// now.
	Stored  bool `json:"stored,omitempty"`
	Current bool `json:"current,omitempty"`
	// Once attaches to the run to go on from also after its end, if going on from it would run nothing.
	Once bool `json:"once,omitempty"`
	// Follow attaches to the run to go on from, whose workflow is not needed: it is that of the run.
	Follow bool `json:"follow,omitempty"`
	// Answer answers the open questions of the run to go on from.
	Answer string `json:"answer,omitempty"`
	// By is who gave it, and Person is set if a person did.
	By     string `json:"by,omitempty"`
	Person bool   `json:"person,omitempty"`
	// Named is the run that was named, if Resume is one that has gone on from it.
	Named string `json:"named,omitempty"`
	// Answers answers questions beforehand, by the paths of their nodes.
	Answers map[string]engine.Answer `json:"answers,omitempty"`
	// Proposals are answers that are only checked: a person is asked.
	Proposals map[string]engine.Answer `json:"proposals,omitempty"`

	// Again is what is asked to run again of the run to go on from, or nil.
	Again *event.Again `json:"again,omitempty"`
	// Only is the path of the only node of the workflow to execute, or empty.
	Only string `json:"only,omitempty"`

	// Key is an idempotency key, or empty.
	Key string `json:"key,omitempty"`
	// keyed is set if the key leads to the run to attach to.
	keyed bool

	// Dir is the folder to run in. DirGiven is set if it was asked for, and wins over that of the run to go on from.
	Dir      string `json:"dir"`
	DirGiven bool   `json:"dir_given,omitempty"`
	// Env are variables that are added to the environment.
	Env     []string      `json:"env,omitempty"`
	Jobs    int           `json:"jobs"`
	Timeout time.Duration `json:"timeout,omitempty"`
	// Budget has the fields of the budget that are asked for.
	Budget event.Spending `json:"budget,omitzero"`
	// Runners are the command lines of runners that are given for the run, by their names.
	Runners   map[string]string `json:"runners,omitempty"`
	KeepGoing bool              `json:"keep_going,omitempty"`
	// OnFailure is what happens to running nodes after a failure, or empty: what the workflow says.
	OnFailure string `json:"on_failure,omitempty"`
	// NoCache runs nodes with a cache too. Their outputs are kept for later runs.
	NoCache bool `json:"no_cache,omitempty"`
	// Sync makes every event reach the disk before the run goes on.
	Sync bool `json:"sync,omitempty"`
	// DryRun takes no lock and changes nothing. It does not cross to another process.
	DryRun bool `json:"-"`
}

// source returns where the home has the workflow by its name, as the first event of the run says it.
func (r *Request) source() string {
	switch {
	case r.Saved:
		return event.SourceLibrary
	case r.Draft:
		return event.SourceDraft
	}
	return ""
}

// repeats reports whether the request repeats a run as it was: then one that has succeeded is not run again.
func (r *Request) repeats() bool { return r.Stored && len(r.Inputs) == 0 && r.Again == nil }

// given returns the values for the inputs of the workflow.
func (r *Request) given(w *workflow.Workflow) map[string]workflow.Given {
	values := make(map[string]workflow.Given, len(r.Inputs)+1)
	maps.Copy(values, r.Inputs)
	if r.Stdin != nil {
		for name, in := range w.Inputs {
			if in.Stdin {
				values[name] = workflow.Given{Text: *r.Stdin}
			}
		}
	}
	return values
}

// parse parses the workflow, with the files that it refers to.
func (r *Request) parse() (*workflow.File, error) {
	file, err := workflow.Parse(r.File, r.Source)
	if err != nil {
		return nil, err
	}
	if file.Dir = r.Folder; len(r.Files) == 0 {
		return file, nil
	}
	return file.Include(r.Files)
}
