package agent

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// claude is Claude Code: claude -p, whose stream-json is that of the Agent SDK (code.claude.com/docs/en/headless).
type claude struct{}

func (claude) lacks(in *nodetype.Agent) []lack {
	if in.Sandbox == "" {
		return nil
	}
	return []lack{{"sandbox", "Say with permission_mode, allowed_tools and disallowed_tools what claude may do"}}
}

// takes: the schema becomes that of a tool's input, which is an object.
func (claude) takes(s *jsonschema.Schema) bool { return s.IsObject() }

func (claude) cumulative() bool { return false }
func (claude) install() string  { return "npm install -g @anthropic-ai/claude-code" }
func (claude) speaks() string   { return "-p --output-format stream-json" }
func (claude) login() string {
	return "Log in once with claude and /login, or give ANTHROPIC_API_KEY in the environment or in the parameter env"
}

func (claude) arguments(j *job, resume string) ([]string, error) {
	args := []string{"-p", "--output-format", "stream-json", "--verbose", "--max-turns=" + strconv.Itoa(j.in.MaxTurns-j.turns)}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag+"="+value)
		}
	}
	add("--model", j.in.Model)
	add("--allowedTools", strings.Join(j.in.AllowedTools, ","))
	add("--disallowedTools", strings.Join(j.in.DisallowedTools, ","))
	add("--permission-mode", j.in.PermissionMode)
	add("--resume", resume)
	if j.in.MaxCostUSD != nil {
		add("--max-budget-usd", decimal(*j.in.MaxCostUSD-j.cost()))
	}
	if j.in.SystemPrompt != "" {
		path, err := j.file("system-prompt", j.in.SystemPrompt)
		if err != nil {
			return nil, err
		}
		add("--append-system-prompt-file", path)
	}
	if j.native {
		// With the name of a dialect that its checker does not know, claude leaves the schema out without a word.
		source, err := sjson.DeleteBytes(j.schema.Source(), "$schema")
		if err != nil {
			return nil, err
		}
		add("--json-schema", string(source))
	}
	return args, nil
}

func (c claude) read(line []byte, r *report) (does string) {
	m := gjson.ParseBytes(line)
	if id := m.Get("session_id").Str; id != "" {
		r.session = id
	}
	switch m.Get("type").Str {
	case "system":
		return c.system(m, r)
	case "assistant":
		return c.assistant(m, r)
	case "result":
		c.result(m, r)
	}
	return ""
}

func (claude) system(m gjson.Result, r *report) (does string) {
	switch m.Get("subtype").Str {
	case "init":
		r.model = m.Get("model").Str
	case "api_retry":
		r.waits = "its model's API gave no answer: " + m.Get("error").Str
		if r.waitsStatus = int(m.Get("error_status").Int()); r.waitsStatus > 0 {
			r.waits += " (HTTP status " + strconv.Itoa(r.waitsStatus) + ")"
		}
		return "waits for its model's API, attempt " + m.Get("attempt").Raw
	}
	return ""
}

// assistant is a part of an answer of the model: each part of its content comes as a message of its own.
func (claude) assistant(m gjson.Result, r *report) (does string) {
	id := m.Get("message.id").Str
	if m.Get("message.model").Str == "<synthetic>" { // made by claude itself, of an error
		return ""
	}
	r.waits = ""
	r.answered(id, claudeUsage(m.Get("message.usage")))
	if m.Get("parent_tool_use_id").Type != gjson.String && id != r.last { // else it is of an agent below it
		r.last = id
		r.turns++
	}
	var tools []string
	m.Get("message.content").ForEach(func(_, part gjson.Result) bool {
		if part.Get("type").Str == "tool_use" {
			tools = append(tools, part.Get("name").Str)
		}
		return true
	})
	if len(tools) == 0 {
		return "answers"
	}
	return strings.Join(tools, ", ")
}

// result is the last message; after work in the background there is another.
func (claude) result(m gjson.Result, r *report) {
	r.done, r.over, r.structured, r.failure, r.denied = true, true, nil, nil, nil
	r.says(m.Get("result"))
	if v := m.Get("structured_output"); v.Exists() && v.Type != gjson.Null {
		r.structured = json.RawMessage(v.Raw)
	}
	if r.last == "" && !m.Get("is_error").Bool() {
		r.turns = int(max(m.Get("num_turns").Int(), 0))
	}
	r.usage, r.told = claudeTotal(m), true
	m.Get("permission_denials").ForEach(func(_, d gjson.Result) bool {
		r.denied = append(r.denied, d.Get("tool_name").Str)
		return true
	})
	subtype := m.Get("subtype").Str
	if !m.Get("is_error").Bool() && (subtype == "success" || subtype == "") {
		return
	}
	said := r.text
	m.Get("errors").ForEach(func(_, e gjson.Result) bool {
		said = strings.TrimSpace(said + "\n" + e.String())
		return true
	})
	if said == "" {
		said = subtype
	}
	r.failure = &failure{status: int(m.Get("api_error_status").Int()), text: said}
	switch subtype {
	case "error_max_turns":
		r.failure.budget = maxTurns
	case "error_max_budget_usd":
		r.failure.budget = maxCost
	case "error_max_structured_output_retries": // the text is checked as any other
		r.failure, r.missing = nil, false
	}
}

// claudeTotal is what all models used, those of agents below it too.
func claudeTotal(m gjson.Result) nodetype.Usage {
	u := claudeUsage(m.Get("usage"))
	if models := m.Get("modelUsage"); models.IsObject() && len(models.Raw) > 2 {
		u = nodetype.Usage{}
		models.ForEach(func(_, model gjson.Result) bool {
			u = sum(u, claudeTokens(model, "inputTokens", "outputTokens", "cacheCreationInputTokens", "cacheReadInputTokens"))
			return true
		})
	}
	if v := m.Get("total_cost_usd"); v.Type == gjson.Number && v.Num >= 0 {
		cost := v.Num
		u.CostUSD = &cost
	}
	return u.Plausible()
}

func claudeUsage(u gjson.Result) nodetype.Usage {
	return claudeTokens(u, "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
}

// claudeTokens reads the four counts, of which the first is without what was written to the cache or read from it.
func claudeTokens(u gjson.Result, input, output, creation, read string) nodetype.Usage {
	written, cached := u.Get(creation).Int(), u.Get(read).Int()
	told := nodetype.Usage{
		InputTokens: u.Get(input).Int() + written + cached, OutputTokens: u.Get(output).Int(),
		CacheCreationTokens: written, CacheReadTokens: cached,
	}
	return sum(nodetype.Usage{}, told.Plausible())
}
