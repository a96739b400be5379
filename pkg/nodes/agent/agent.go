// Package agent gives a task to a command-line agent, such as claude or codex. The agent works in a directory, within a budget of
// turns, cost and time, and returns a result for the workflow.
package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/nodes/nodeprogram"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// Host is the environment in which an agent runs.
type Host struct {
	// Dir is the absolute directory to which relative paths refer.
	Dir string
	// Env is the environment of the agent, except the variables that mark a process inside another agent.
	Env []string
	// Stderr receives the agent's standard error. It may be nil.
	Stderr io.Writer
	// Linger is how long the agent may stay silent after its result before it is stopped, by default 10 seconds. The result is
	// valid then.
	Linger time.Duration
	// Progress is called with the number of turns taken, their maximum, and what the agent does, at most four times a second, and
	// with what it has used so far, or nil if that is not known. It may be nil.
	Progress func(done, total float64, message string, usage *nodetype.Usage)
}

// Run gives a task to an agent and waits for its end. If the agent is stopped, all its processes are stopped too. If the agent asks
// a person, or was denied a permission, Run returns the question, and goes on when it is called again with the answer. The error is a
// *fault.Fault, or the cause of a context that ended. The outputs with an error have the session, which can be resumed.
func Run(ctx context.Context, in nodetype.Agent, answer *nodeprogram.Answer, host Host) (*nodetype.AgentOutputs, *nodeprogram.Question, error) {
	j := &job{in: in, host: host, secrets: redact.New()}
	if f := j.prepare(); f != nil {
		return nil, nil, j.redacted(f)
	}
	defer j.remove()
	limit := in.Timeout.Duration()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	question, err := j.work(ctx, answer)
	return j.outputs(), question, err
}

// job is a task for an agent.
type job struct {
	in      nodetype.Agent
	host    Host
	backend backend
	command []string // the program and its first arguments
	dir     string
	env     []string
	mark    string // a variable in env by which the processes of this job are found
	schema  *jsonschema.Schema
	sandbox nodetype.Sandbox
	native  bool // the backend gets the schema as an option, not in the prompt
	secrets *redact.Redactor
	tempDir string // holds files for arguments; empty without any

	session, model string
	turns          int
	usage          nodetype.Usage
	usageKnown     bool
	denied         []string
	result         json.RawMessage
	// granted is what people have allowed the agent in its session. reply answers its question in the next call.
	granted      []string
	reply        json.RawMessage
	lastProgress time.Time
}

// work runs the agent, or goes on with it after an answer.
func (j *job) work(ctx context.Context, answer *nodeprogram.Answer) (*nodeprogram.Question, error) {
	r, question, err := j.begin(ctx, answer)
	if err != nil || question != nil {
		return question, err
	}
	if j.schema == nil {
		if j.result = r.value; r.value == nil {
			j.result = rawjson.Quote(r.text)
		}
		return nil, nil
	}
	return nil, j.fit(ctx, r)
}

// begin calls the agent for the first time, or with the answer to its question. It returns what the agent reports, or a question.
func (j *job) begin(ctx context.Context, answer *nodeprogram.Answer) (r *report, question *nodeprogram.Question, err error) {
	if answer != nil {
		p, err := j.restore(answer)
		if err != nil {
			return nil, nil, err
		}
		return j.resume(ctx, p, answer.Text)
	}
	prompt := j.in.Prompt
	if j.schema != nil && !j.native {
		prompt += schemaPrompt(j.schema)
	}
	if r, err = j.call(ctx, prompt, j.in.Resume); err != nil {
		return nil, nil, err
	}
	return r, questionOf(j, r), nil
}

// fit sets the result to what fits the schema. It asks the agent again, as often as the node allows.
func (j *job) fit(ctx context.Context, r *report) (err error) {
	for asked := 1; ; asked++ {
		wrong := j.setResult(r)
		if wrong == nil {
			return nil
		}
		if asked > j.in.SchemaRetries || j.session == "" {
			return j.schemaMismatch(r, wrong, asked)
		}
		if f := j.exhausted(); f != nil {
			return j.schemaMismatch(r, fmt.Errorf("%w; %s does not allow another attempt", wrong, f.Details["budget"]), asked)
		}
		if r, err = j.call(ctx, correction(j.schema, wrong), j.session); err != nil {
			return err
		}
	}
}

// setResult sets the result to the value in a report, if it fits the schema. Otherwise it returns what is wrong.
func (j *job) setResult(r *report) error {
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

// outputs returns the outputs so far.
func (j *job) outputs() *nodetype.AgentOutputs {
	out := &nodetype.AgentOutputs{Result: j.result, SessionID: j.session, Turns: j.turns, Denied: j.denied}
	if out.Denied == nil {
		out.Denied = []string{}
	}
	if j.usageKnown {
		usage := j.usage
		usage.Model = j.model
		out.LLMUsage = &usage
	}
	return out
}

// file writes a text to a temporary file for an argument, and returns its path.
func (j *job) file(name, text string) (string, error) {
	if j.tempDir == "" {
		dir, err := os.MkdirTemp("", "pflow-agent-")
		if err != nil {
			return "", err
		}
		j.tempDir = dir
	}
	path := j.tempDir + string(os.PathSeparator) + name
	return path, os.WriteFile(path, []byte(text), 0o600)
}

func (j *job) remove() {
	if j.tempDir != "" {
		_ = os.RemoveAll(j.tempDir)
	}
}
