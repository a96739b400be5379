package agent

import (
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// backend is one kind of agent: how it is called and what it answers.
type backend interface {
	// lacks are the parameters that are given and that it has nothing for.
	lacks(in *nodetype.Agent) []lack
	// takes says whether it is given a schema itself, in place of being told of it in the prompt.
	takes(s *jsonschema.Schema) bool
	// arguments are those of one call, which reads the prompt from standard input.
	arguments(j *job, resume string) ([]string, error)
	// read reads one line of the stream, valid JSON, and says in a few words what the agent does, or nothing.
	read(line []byte, r *report) (does string)
	// cumulative says whether a call that resumes a session tells the use of all of it.
	cumulative() bool
	// install is the command that installs it, and login what a person does to log in.
	install() string
	login() string
	// speaks is the option by which it prints the stream that is read here.
	speaks() string
}

// lack is a parameter that a backend does not have, with what to do in its place.
type lack struct{ name, instead string }

var backends = map[string]backend{"claude": claude{}, "codex": codex{}}

// failure is what the agent says went wrong.
type failure struct {
	// budget is the parameter whose budget is used up.
	budget string
	// status is the HTTP status of the model's API, where it is told.
	status int
	text   string
}
