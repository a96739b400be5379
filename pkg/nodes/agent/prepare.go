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

// markName is the environment variable by which the processes of a job are found.
const markName = "PFLOW_AGENT_CALL"

// nested are the variables by which an agent knows that it runs inside another, and refuses to start.
var nested = []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"}

// prepare checks the parameters and finds the program, before anything starts.
func (j *job) prepare() *fault.Fault {
	j.backend = backends[j.in.Backend]
	if j.backend == nil {
		return fault.New(fault.Usage, "Unknown backend %q", j.in.Backend).Suggest("Set backend to claude or codex")
	}
	if f := j.environment(); f != nil {
		return f
	}
	var f *fault.Fault
	if j.sandbox, f = nodetype.SandboxOf(j.in.Sandbox); f != nil {
		return f
	}
	if f := j.checkParams(); f != nil {
		return f
	}
	if f := nodetype.UnsupportedByAgent(j.in.Backend, func(param string) bool { return given(&j.in, param) }, j.sandbox); f != nil {
		return f
	}
	if f := checkConfig(&j.in, j.sandbox); f != nil {
		return f
	}
	if j.schema, f = jsonschema.ParseOutput(j.in.OutputSchema); f != nil {
		return f
	}
	j.native = j.schema != nil && j.backend.acceptsSchema(j.schema)
	return j.locate()
}

// given reports whether the node has a parameter that only one backend has.
func given(in *nodetype.Agent, param string) bool {
	switch param {
	case "allowed_tools":
		return len(in.AllowedTools) > 0
	case "disallowed_tools":
		return len(in.DisallowedTools) > 0
	case "permission_mode":
		return in.PermissionMode != ""
	case "max_cost_usd":
		return in.MaxCostUSD != nil
	case "max_thinking_tokens":
		return in.MaxThinkingTokens != nil
	case "approval_policy":
		return in.ApprovalPolicy != ""
	case "profile":
		return in.Profile != ""
	case "config":
		return len(in.Config) > 0
	}
	return false
}

// checkParams returns a fault for parameter values that are invalid for every backend.
func (j *job) checkParams() *fault.Fault {
	wrong := func(name, format string, args ...any) *fault.Fault {
		f := fault.New(fault.Usage, format, args...)
		f.Path = "params." + name
		return f
	}
	switch {
	case strings.TrimSpace(j.in.Prompt) == "":
		return wrong("prompt", "prompt must not be empty")
	case j.in.MaxTurns < 1:
		return wrong("max_turns", "max_turns must be at least 1, got %d", j.in.MaxTurns)
	case j.in.MaxCostUSD != nil && *j.in.MaxCostUSD <= 0:
		return wrong("max_cost_usd", "max_cost_usd must be more than 0, got %g", *j.in.MaxCostUSD)
	case j.in.Timeout <= 0:
		return wrong("timeout", nodetype.NoTime)
	case j.in.SchemaRetries < 0 || j.in.SchemaRetries > maxSchemaRetries:
		return wrong("schema_retries", "schema_retries must be from 0 to %d, got %d", maxSchemaRetries, j.in.SchemaRetries)
	case j.in.MaxThinkingTokens != nil && *j.in.MaxThinkingTokens < 0:
		return wrong("max_thinking_tokens", "max_thinking_tokens must be at least 0, got %d", *j.in.MaxThinkingTokens)
	case strings.HasPrefix(j.in.Profile, "-") || strings.ContainsRune(j.in.Profile, 0):
		return wrong("profile", "profile is not the name of a profile: %s", fault.Truncate(j.in.Profile, 80))
	case strings.HasPrefix(j.in.Resume, "-") || strings.ContainsRune(j.in.Resume, 0):
		return wrong("resume", "resume is not a session id: %s", fault.Truncate(j.in.Resume, 80))
	case strings.ContainsRune(j.in.Model, 0) || strings.ContainsRune(j.in.SystemPrompt, 0) || strings.ContainsRune(j.in.PermissionMode, 0):
		return wrong("model", "model, system_prompt and permission_mode must not have a NUL byte")
	}
	for _, tool := range append(slices.Clone(j.in.AllowedTools), j.in.DisallowedTools...) {
		if strings.TrimSpace(tool) == "" || strings.ContainsRune(tool, 0) {
			return wrong("allowed_tools", "allowed_tools and disallowed_tools must not have an empty name")
		}
	}
	for _, dir := range j.in.AddDir {
		if strings.TrimSpace(dir) == "" || strings.ContainsRune(dir, 0) {
			return wrong("add_dir", "add_dir must not have an empty path")
		}
	}
	return nil
}

// maxSchemaRetries is the most corrections of a result that a node may ask for.
const maxSchemaRetries = 5

// environment sets the environment of the agent, which marks its processes. Its secrets are redacted in messages.
func (j *job) environment() *fault.Fault {
	j.mark = markName + "=" + rand.Text()
	j.env = process.Environment(j.host.Env, nested...)
	var f *fault.Fault
	if j.env, f = process.Extend(j.env, j.in.Env); f != nil {
		f.Type, f.Path = fault.Usage, "params.env"
		return f
	}
	if f := j.useKeys(); f != nil {
		return f
	}
	j.env = j.backend.environment(&j.in, j.env)
	for _, kv := range j.env {
		if name, value, _ := strings.Cut(kv, "="); redact.SecretName(name) {
			j.secrets.Add(name, value)
		}
	}
	j.env = append(j.env, j.mark)
	return nil
}

// locate finds the directory and the program.
func (j *job) locate() *fault.Fault {
	j.dir = j.host.Dir
	if j.in.Cwd != "" {
		j.dir = j.absolute(j.in.Cwd)
	}
	command := j.in.Command
	if command == "" {
		command = j.in.Backend
	}
	words, ok := shell.Direct(command)
	if !ok { // a path with characters that are special in a shell
		words = []string{command}
	}
	if strings.ContainsRune(words[0], filepath.Separator) {
		words[0] = j.absolute(words[0])
	}
	path, err := process.LookPath(words[0], j.env, j.dir)
	if err != nil || !process.Executable(path) {
		return j.missing(words[0])
	}
	j.command = append([]string{path}, words[1:]...)
	return nil
}

// missing returns the fault for a program that cannot be executed.
func (j *job) missing(program string) *fault.Fault {
	if j.in.Command != "" {
		f := fault.New(fault.Unavailable, "The agent's program does not exist or is not executable: %s", program)
		f.Path = "params.command"
		return f.Suggest("Set command to the path of the agent's program, or leave it out to use %s from PATH", j.in.Backend)
	}
	return fault.New(fault.Unavailable, "The program %s of the backend %s is not on PATH", program, j.in.Backend).
		Suggest("Install it with: %s", j.backend.install()).
		Suggest("Or set the parameter command to its path")
}

// absolute returns a path that is relative to the directory of the host as an absolute one.
func (j *job) absolute(path string) string {
	return process.Path(path, j.host.Dir, j.env)
}
