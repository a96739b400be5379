// Package agent runs a command-line agent, such as claude or codex, on a task: in a folder, within a budget of turns, cost
// and time, to a result that a workflow can go on with.
package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// Host is what an agent is run from.
type Host struct {
	// Dir is the absolute folder that relative paths are relative to.
	Dir string
	// Env is the environment that the agent gets, but for what would tell it that it runs inside another agent.
	Env []string
	// Stderr takes what the agent says on standard error, as it comes.
	Stderr io.Writer
	// Linger is how long the agent may go on without a word after it has told its result, by default 10 seconds. Then it is
	// stopped, and the result stands.
	Linger time.Duration
	// Progress takes how many turns it has taken, of how many, and what it does; at most four times a second.
	Progress func(done, total float64, message string)
}

// Run gives a task to an agent and waits for its end. Where it has to be stopped, all that it started is stopped too. With
// an error, which is a fault or the cause of a context that is done, come the outputs that there are: with their session
// one can go on.
func Run(ctx context.Context, in nodetype.Agent, host Host) (*nodetype.AgentOutputs, error) {
	j := &job{in: in, host: host, secrets: redact.New()}
	if f := j.prepare(); f != nil {
		return nil, j.cleaned(f)
	}
	defer j.remove()
	limit := in.Timeout.Duration()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errLate)
	defer cancel()
	err := j.work(ctx)
	out := j.outputs()
	if err != nil {
		return out, err
	}
	return out, nil
}

// job is a task with its agent.
type job struct {
	in      nodetype.Agent
	host    Host
	backend backend
	command []string // the program and the words behind it
	dir     string
	env     []string
	mark    string // the variable in env that no other process has
	schema  *jsonschema.Schema
	native  bool // the backend is given the schema
	secrets *redact.Redactor
	folder  string // holds the files of arguments, when there are any

	session, model string
	turns          int
	usage          nodetype.Usage
	told           bool // of what was used
	denied         []string
	result         json.RawMessage
	lastSaid       time.Time
}

// work runs the agent, and once more when its result does not fit the schema.
func (j *job) work(ctx context.Context) error {
	prompt := j.in.Prompt
	if j.schema != nil && !j.native {
		prompt += asked(j.schema)
	}
	r, err := j.call(ctx, prompt, j.in.Resume)
	if err != nil {
		return err
	}
	if j.schema == nil {
		if j.result = r.value; r.value == nil {
			j.result = rawjson.Quote(r.text)
		}
		return nil
	}
	wrong := j.fit(r)
	if wrong == nil {
		return nil
	}
	if j.session == "" {
		return j.misfit(r, wrong, false)
	}
	if f := j.exhausted(); f != nil {
		return j.misfit(r, fmt.Errorf("%w; and %s leaves it no other try", wrong, f.Details["budget"]), false)
	}
	r, err = j.call(ctx, correction(j.schema, wrong), j.session)
	if err != nil {
		return err
	}
	if wrong = j.fit(r); wrong != nil {
		return j.misfit(r, wrong, true)
	}
	return nil
}

// fit makes what the agent said at its end the result, when it fits the schema.
func (j *job) fit(r *report) error {
	value := r.structured
	if value == nil {
		value = r.value
	}
	if value == nil {
		value = jsonIn(r.text)
	}
	if err := j.schema.Check(value); err != nil {
		return err
	}
	j.result = value
	return nil
}

// outputs are what there is so far.
func (j *job) outputs() *nodetype.AgentOutputs {
	out := &nodetype.AgentOutputs{Result: j.result, SessionID: j.session, Turns: j.turns, Denied: j.denied}
	if out.Denied == nil {
		out.Denied = []string{}
	}
	if j.told {
		usage := j.usage
		usage.Model = j.model
		out.LLMUsage = &usage
	}
	return out
}

// file puts a text into a file for an argument that takes one.
func (j *job) file(name, text string) (string, error) {
	if j.folder == "" {
		folder, err := os.MkdirTemp("", "pflow-agent-")
		if err != nil {
			return "", err
		}
		j.folder = folder
	}
	path := j.folder + string(os.PathSeparator) + name
	return path, os.WriteFile(path, []byte(text), 0o600)
}

func (j *job) remove() {
	if j.folder != "" {
		_ = os.RemoveAll(j.folder)
	}
}
