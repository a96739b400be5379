package agent

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// codex is OpenAI's Codex CLI. The events of codex exec --json are defined in codex-rs/exec/src/exec_events.rs.
type codex struct{}

// acceptsSchema requires a strict schema: the API rejects others.
func (codex) acceptsSchema(s *jsonschema.Schema) bool { return s.IsObject() && s.Strict() }

func (codex) cumulative() bool      { return true }
func (codex) install() string       { return "npm install -g @openai/codex" }
func (codex) outputOptions() string { return "exec --json" }
func (codex) login() string {
	return "Log in once with codex login, or set CODEX_API_KEY in the environment or in the parameter env"
}

func (codex) arguments(j *job, resume string) ([]string, error) {
	args := []string{"exec", "--json", "--skip-git-repo-check"}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag+"="+value)
		}
	}
	if len(j.granted) > 0 {
		args = append(args, "--dangerously-bypass-approvals-and-sandbox")
	} else {
		add("--sandbox", j.sandbox.Mode)
	}
	add("--model", j.in.Model)
	add("--profile", j.in.Profile)
	for _, dir := range j.in.AddDir {
		add("--add-dir", j.absolute(dir))
	}
	for _, name := range slices.Sorted(maps.Keys(j.in.Config)) {
		value, err := toml(j.in.Config[name])
		if err != nil {
			return nil, err
		}
		add("--config", name+"="+value)
	}
	if j.in.ApprovalPolicy != "" && len(j.granted) == 0 { // codex exec has no option for it
		add("--config", "approval_policy="+string(rawjson.Quote(j.in.ApprovalPolicy)))
	}
	if j.in.SystemPrompt != "" { // a JSON string is also a TOML string
		add("--config", "developer_instructions="+string(rawjson.Quote(j.in.SystemPrompt)))
	}
	if resume != "" {
		args = append(args, "resume")
	}
	if j.native {
		path, err := j.file("schema.json", string(j.schema.Source()))
		if err != nil {
			return nil, err
		}
		args = append(args, "--output-schema="+path)
	}
	if resume != "" {
		args = append(args, resume)
	}
	return append(args, "-"), nil
}

// grants is all or nothing: codex exec cannot ask, and has no option that allows a single command.
func (codex) grants(*job, []ask) []string {
	return []string{"all commands of the session, without sandbox and approvals"}
}

func (codex) keys() []string { return []string{codexKey, "OPENAI_API_KEY"} }

// codexKey is the variable whose key codex exec uses in place of its login.
const codexKey = "CODEX_API_KEY"

// environment gives codex the key of the OpenAI API under the name that codex exec reads, if the node asks for a key.
func (codex) environment(in *nodetype.Agent, env []string) []string {
	key := process.Getenv(env, "OPENAI_API_KEY")
	if in.UseAPIKey == nil || !*in.UseAPIKey || key == "" || process.Getenv(env, codexKey) != "" {
		return env
	}
	return append(slices.Clip(env), codexKey+"="+key)
}

func (c codex) read(line []byte, r *report) (activity string) {
	m := gjson.ParseBytes(line)
	switch m.Get("type").Str {
	case "thread.started":
		r.session = m.Get("thread_id").Str
	case "item.started", "item.updated", "item.completed":
		return c.item(m.Get("item"), r)
	case "turn.completed":
		r.done, r.over = true, true
		r.usage, r.usageKnown = codexUsage(m.Get("usage")), true
	case "turn.failed":
		r.over, r.failure = true, &failure{text: m.Get("error.message").Str}
	case "error": // it may still go on, for example by reconnecting
		r.waiting = m.Get("message").Str
	}
	return ""
}

// item reads a message or an action. Each comes when it begins and when it ends.
func (codex) item(item gjson.Result, r *report) (activity string) {
	kind := item.Get("type").Str
	switch kind {
	case "reasoning", "todo_list", "error", "":
		return ""
	case "agent_message":
		r.setText(item.Get("text"))
	}
	if kind == "command_execution" && item.Get("status").Str == "declined" { // an approval was needed, and codex exec cannot ask
		r.denied = append(r.denied, kind)
		r.asks = append(r.asks, ask{kind, rawjson.Quote(item.Get("command").Str)})
	}
	r.waiting = ""
	if id := item.Get("id").Str; !r.seen[id] {
		if r.seen == nil {
			r.seen = map[string]bool{}
		}
		r.seen[id] = true // at most as many as max_turns
		r.turns++
	}
	switch kind {
	case "agent_message":
		return "answers"
	case "command_execution":
		return "runs a command"
	case "mcp_tool_call":
		return item.Get("server").Str + " " + item.Get("tool").Str
	}
	return strings.ReplaceAll(kind, "_", " ")
}

func codexUsage(u gjson.Result) nodetype.Usage {
	usage := nodetype.Usage{
		InputTokens: u.Get("input_tokens").Int(), OutputTokens: u.Get("output_tokens").Int(),
		CacheReadTokens: u.Get("cached_input_tokens").Int(), CacheCreationTokens: u.Get("cache_write_input_tokens").Int(),
	}
	return sum(nodetype.Usage{}, usage.Plausible())
}
