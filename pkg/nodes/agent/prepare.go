package agent

import (
	"crypto/rand"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
	"github.com/pflow-suite/pflow/pkg/workflow/shell"
)

// markName is the variable by which the processes of one call of an agent are known.
const markName = "PFLOW_AGENT_CALL"

// inside are the variables by which an agent knows that it runs inside another, and then refuses to.
var inside = []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"}

// prepare checks all that can be known before anything starts.
func (j *job) prepare() *fault.Fault {
	j.backend = backends[j.in.Backend]
	if j.backend == nil {
		return fault.New(fault.Usage, "There is no backend %q", j.in.Backend).Suggest("backend is claude or codex")
	}
	if f := j.environment(); f != nil {
		return f
	}
	if f := j.plain(); f != nil {
		return f
	}
	if lacks := j.backend.lacks(&j.in); len(lacks) > 0 {
		var names []string
		for _, l := range lacks {
			names = append(names, l.name)
		}
		f := fault.New(fault.Usage, "Backend %s has no %s", j.in.Backend, strings.Join(names, ", "))
		f.Path = "params." + names[0]
		for i, l := range lacks {
			if i == 0 || l.instead != lacks[i-1].instead {
				f.Suggest("%s", l.instead)
			}
		}
		return f
	}
	var f *fault.Fault
	if j.schema, f = jsonschema.ParseOutput(j.in.OutputSchema); f != nil {
		return f
	}
	j.native = j.schema != nil && j.backend.takes(j.schema)
	return j.place()
}

// plain refuses values of parameters that no backend can do anything with.
func (j *job) plain() *fault.Fault {
	wrong := func(name, format string, args ...any) *fault.Fault {
		f := fault.New(fault.Usage, format, args...)
		f.Path = "params." + name
		return f
	}
	switch {
	case strings.TrimSpace(j.in.Prompt) == "":
		return wrong("prompt", "prompt is empty: there is nothing to do for the agent")
	case j.in.MaxTurns < 1:
		return wrong("max_turns", "max_turns must be at least 1")
	case j.in.MaxCostUSD != nil && *j.in.MaxCostUSD <= 0:
		return wrong("max_cost_usd", "max_cost_usd must be more than 0")
	case j.in.Timeout <= 0:
		return wrong("timeout", nodetype.NoTime)
	case strings.HasPrefix(j.in.Resume, "-") || strings.ContainsRune(j.in.Resume, 0):
		return wrong("resume", "resume is no session's id: %s", fault.Truncate(j.in.Resume, 80))
	case strings.ContainsRune(j.in.Model, 0) || strings.ContainsRune(j.in.SystemPrompt, 0) || strings.ContainsRune(j.in.PermissionMode, 0):
		return wrong("model", "there is a NUL byte in model, system_prompt or permission_mode")
	}
	for _, tool := range append(slices.Clone(j.in.AllowedTools), j.in.DisallowedTools...) {
		if strings.TrimSpace(tool) == "" || strings.ContainsRune(tool, 0) {
			return wrong("allowed_tools", "there is a tool without a name in allowed_tools or disallowed_tools")
		}
	}
	return nil
}

// environment is that of the agent, in which its processes are marked. What is secret in it is so in messages.
func (j *job) environment() *fault.Fault {
	j.mark = markName + "=" + rand.Text()
	j.env = process.Environment(j.host.Env, inside...)
	var f *fault.Fault
	if j.env, f = process.Extend(j.env, j.in.Env); f != nil {
		f.Type, f.Path = fault.Usage, "params.env"
		return f
	}
	for _, kv := range j.env {
		if name, value, _ := strings.Cut(kv, "="); redact.SecretName(name) {
			j.secrets.Add(name, value)
		}
	}
	j.env = append(j.env, j.mark)
	return nil
}

// place finds the folder and the program.
func (j *job) place() *fault.Fault {
	j.dir = j.host.Dir
	if j.in.Cwd != "" {
		j.dir = j.under(j.in.Cwd)
	}
	command := j.in.Command
	if command == "" {
		command = j.in.Backend
	}
	words, ok := shell.Direct(command)
	if !ok { // a path with what a shell would read otherwise
		words = []string{command}
	}
	if strings.ContainsRune(words[0], filepath.Separator) {
		words[0] = j.under(words[0])
	}
	path, err := process.LookPath(words[0], j.env, j.dir)
	if err != nil || !process.Executable(path) {
		return j.missing(words[0])
	}
	j.command = append([]string{path}, words[1:]...)
	return nil
}

// missing is the fault of an agent that is not there.
func (j *job) missing(program string) *fault.Fault {
	if j.in.Command != "" {
		f := fault.New(fault.Unavailable, "The agent's program is not there, or may not be executed: %s", program)
		f.Path = "params.command"
		return f.Suggest("Give the path of the agent's program in command, or leave command out to use %s from PATH", j.in.Backend)
	}
	return fault.New(fault.Unavailable, "There is no program %s on PATH, which backend %s is", program, j.in.Backend).
		Suggest("Install it with: %s", j.backend.install()).
		Suggest("Or give its path in the parameter command")
}

// under is a path as it is meant where the agent is run from.
func (j *job) under(path string) string {
	return process.Path(path, j.host.Dir, j.env)
}
