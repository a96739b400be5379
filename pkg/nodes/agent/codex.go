package agent

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// codex is OpenAI's Codex CLI: codex exec --json, whose events are those of codex-rs/exec/src/exec_events.rs.
type codex struct{}

func (codex) lacks(in *nodetype.Agent) []lack {
	var l []lack
	if len(in.AllowedTools) > 0 {
		l = append(l, lack{"allowed_tools", "Say with sandbox what codex may touch"})
	}
	if len(in.DisallowedTools) > 0 {
		l = append(l, lack{"disallowed_tools", "Say with sandbox what codex may touch"})
	}
	if in.PermissionMode != "" {
		l = append(l, lack{"permission_mode", "codex exec never asks: say with sandbox what it may touch"})
	}
	if in.MaxCostUSD != nil {
		l = append(l, lack{"max_cost_usd", "codex does not tell what it costs: limit it with max_turns and timeout"})
	}
	return l
}

// takes: the API refuses a schema that leaves something open.
func (codex) takes(s *jsonschema.Schema) bool { return s.IsObject() && s.Strict() }

func (codex) cumulative() bool { return true }
func (codex) install() string  { return "npm install -g @openai/codex" }
func (codex) speaks() string   { return "exec --json" }
func (codex) login() string {
	return "Log in once with codex login, or give CODEX_API_KEY in the environment or in the parameter env"
}

func (codex) arguments(j *job, resume string) ([]string, error) {
	args := []string{"exec", "--json", "--skip-git-repo-check"}
	if j.in.Sandbox != "" {
		args = append(args, "--sandbox="+j.in.Sandbox)
	}
	if j.in.Model != "" {
		args = append(args, "--model="+j.in.Model)
	}
	if j.in.SystemPrompt != "" { // a JSON string is one of TOML
		args = append(args, "--config=developer_instructions="+string(rawjson.Quote(j.in.SystemPrompt)))
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

func (c codex) read(line []byte, r *report) (does string) {
	m := gjson.ParseBytes(line)
	switch m.Get("type").Str {
	case "thread.started":
		r.session = m.Get("thread_id").Str
	case "item.started", "item.updated", "item.completed":
		return c.item(m.Get("item"), r)
	case "turn.completed":
		r.done, r.over = true, true
		r.usage, r.told = codexUsage(m.Get("usage")), true
	case "turn.failed":
		r.over, r.failure = true, &failure{text: m.Get("error.message").Str}
	case "error": // of which it may still go on: then it says that it connects again
		r.waits = m.Get("message").Str
	}
	return ""
}

// item is a thing that codex says or does; it comes when it begins, and when it ends.
func (codex) item(item gjson.Result, r *report) (does string) {
	kind := item.Get("type").Str
	switch kind {
	case "reasoning", "todo_list", "error", "":
		return ""
	case "agent_message":
		r.says(item.Get("text"))
	}
	r.waits = ""
	if id := item.Get("id").Str; !r.seen[id] {
		if r.seen == nil {
			r.seen = map[string]bool{}
		}
		r.seen[id] = true // no more than its turns are
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
	told := nodetype.Usage{
		InputTokens: u.Get("input_tokens").Int(), OutputTokens: u.Get("output_tokens").Int(),
		CacheReadTokens: u.Get("cached_input_tokens").Int(), CacheCreationTokens: u.Get("cache_write_input_tokens").Int(),
	}
	return sum(nodetype.Usage{}, told.Plausible())
}
