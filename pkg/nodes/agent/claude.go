package agent

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// claude is Claude Code. The format stream-json of claude -p is that of the Agent SDK (code.claude.com/docs/en/headless).
type claude struct{}

// acceptsSchema requires an object: claude uses the schema as the input of a tool.
func (claude) acceptsSchema(s *jsonschema.Schema) bool { return s.IsObject() }

func (claude) cumulative() bool      { return false }
func (claude) install() string       { return "npm install -g @anthropic-ai/claude-code" }
func (claude) outputOptions() string { return "-p --output-format stream-json" }
func (claude) login() string {
	return "Log in once with claude and /login, or set ANTHROPIC_API_KEY in the environment or in the parameter env"
}

func (claude) arguments(j *job, resume string) ([]string, error) {
	args := []string{"-p", "--output-format", "stream-json", "--verbose", "--max-turns=" + strconv.Itoa(j.in.MaxTurns-j.turns)}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag+"="+value)
		}
	}
	add("--model", j.in.Model)
	asks := slices.Contains(j.in.AllowedTools, askTool) && !inBatch(j)
	if asks { // claude has the tool only with this option; the hook in the settings defers its use
		add("--permission-prompt-tool", "stdio")
	}
	add("--allowedTools", strings.Join(slices.DeleteFunc(slices.Clone(j.in.AllowedTools), func(tool string) bool { return tool == askTool }), ","))
	add("--disallowedTools", strings.Join(j.in.DisallowedTools, ","))
	add("--permission-mode", j.in.PermissionMode)
	add("--resume", resume)
	for _, dir := range j.in.AddDir {
		add("--add-dir", j.absolute(dir))
	}
	settings, err := claudeSettings(j, asks)
	if err != nil {
		return nil, err
	}
	add("--settings", settings)
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
		// If $schema names a dialect that claude does not know, it silently ignores the schema.
		source, err := sjson.DeleteBytes(j.schema.Source(), "$schema")
		if err != nil {
			return nil, err
		}
		add("--json-schema", string(source))
	}
	return args, nil
}

func (claude) keys() []string { return []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} }

// environment sets the limit of the thinking by the variable, which claude prefers to its option --max-thinking-tokens.
func (claude) environment(in *nodetype.Agent, env []string) []string {
	if in.MaxThinkingTokens == nil {
		return env
	}
	return append(process.Environment(env, thinkingVar), thinkingVar+"="+strconv.Itoa(*in.MaxThinkingTokens))
}

// thinkingVar is the variable with the limit of claude's thinking (code.claude.com/docs/en/settings).
const thinkingVar = "MAX_THINKING_TOKENS"

func (c claude) read(line []byte, r *report) (activity string) {
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

func (claude) system(m gjson.Result, r *report) (activity string) {
	switch m.Get("subtype").Str {
	case "init":
		r.model = m.Get("model").Str
	case "api_retry":
		r.waiting = "the model's API did not answer: " + m.Get("error").Str
		if r.waitingStatus = int(m.Get("error_status").Int()); r.waitingStatus > 0 {
			r.waiting += " (HTTP status " + strconv.Itoa(r.waitingStatus) + ")"
		}
		return "waits for the model's API, attempt " + m.Get("attempt").Raw
	}
	return ""
}

// assistant reads a part of an answer of the model: each part of the content is a message of its own.
func (claude) assistant(m gjson.Result, r *report) (activity string) {
	id := m.Get("message.id").Str
	if m.Get("message.model").Str == "<synthetic>" { // claude reports an error in this form
		return ""
	}
	r.waiting = ""
	r.countAnswer(id, claudeUsage(m.Get("message.usage")))
	if m.Get("parent_tool_use_id").Type != gjson.String && id != r.last { // otherwise it belongs to a subagent
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

// result reads the last message. After work in the background there is another one.
func (claude) result(m gjson.Result, r *report) {
	r.done, r.over, r.structured, r.failure, r.denied, r.asks, r.deferred = true, true, nil, nil, nil, nil, false
	r.setText(m.Get("result"))
	if v := m.Get("structured_output"); v.Exists() && v.Type != gjson.Null {
		r.structured = json.RawMessage(v.Raw)
	}
	if r.last == "" && !m.Get("is_error").Bool() {
		r.turns = int(max(m.Get("num_turns").Int(), 0))
	}
	r.usage, r.usageKnown = claudeTotal(m), true
	m.Get("permission_denials").ForEach(func(_, d gjson.Result) bool {
		r.denied = append(r.denied, d.Get("tool_name").Str)
		r.asks = append(r.asks, ask{d.Get("tool_name").Str, json.RawMessage(d.Get("tool_input").Raw)})
		return true
	})
	if deferred := m.Get("deferred_tool_use"); deferred.IsObject() {
		r.asks, r.deferred = []ask{{deferred.Get("name").Str, json.RawMessage(deferred.Get("input").Raw)}}, true
	}
	subtype := m.Get("subtype").Str
	if !m.Get("is_error").Bool() && (subtype == "success" || subtype == "") {
		return
	}
	text := r.text
	m.Get("errors").ForEach(func(_, e gjson.Result) bool {
		text = strings.TrimSpace(text + "\n" + e.String())
		return true
	})
	if text == "" {
		text = subtype
	}
	r.failure = &failure{status: int(m.Get("api_error_status").Int()), text: text}
	switch subtype {
	case "error_max_turns":
		r.failure.budget = maxTurns
	case "error_max_budget_usd":
		r.failure.budget = maxCost
	case "error_max_structured_output_retries": // the text is checked like any other result
		r.failure, r.missing = nil, false
	}
}

// claudeTotal returns the usage of all models, including those of subagents.
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

// claudeTokens reads four counts. The first does not include the tokens that were written to or read from the cache.
func claudeTokens(u gjson.Result, input, output, creation, read string) nodetype.Usage {
	written, cached := u.Get(creation).Int(), u.Get(read).Int()
	usage := nodetype.Usage{
		InputTokens: u.Get(input).Int() + written + cached, OutputTokens: u.Get(output).Int(),
		CacheCreationTokens: written, CacheReadTokens: cached,
	}
	return sum(nodetype.Usage{}, usage.Plausible())
}
