package agent

import (
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// backend is a kind of agent: its command line and its output.
type backend interface {
	// acceptsSchema reports whether it accepts a schema as an option. Otherwise the prompt has the schema.
	acceptsSchema(s *jsonschema.Schema) bool
	// arguments returns the arguments of a call, which reads the prompt from standard input.
	arguments(j *job, resume string) ([]string, error)
	// read adds a line of the output, valid JSON, to a report. It returns what the agent does in a few words, or "".
	read(line []byte, r *report) (activity string)
	// grants returns what the agent must be allowed to do what it was denied, in words for a person.
	grants(j *job, asks []ask) []string
	// cumulative reports whether the usage of a call that resumes a session includes the earlier calls.
	cumulative() bool
	// keys returns the variables with API keys that it uses in place of a login.
	keys() []string
	// environment returns the environment with the variables that stand for parameters.
	environment(in *nodetype.Agent, env []string) []string
	// install returns the command that installs it.
	install() string
	// login returns a sentence on how to log in.
	login() string
	// outputOptions returns the options for the output that read needs.
	outputOptions() string
}

var backends = map[string]backend{nodetype.Claude: claude{}, nodetype.Codex: codex{}}

// failure is an error that the agent reports.
type failure struct {
	// budget is the parameter whose budget is used up, or empty.
	budget string
	// status is the HTTP status of the model's API, or 0 if it is not known.
	status int
	text   string
}
