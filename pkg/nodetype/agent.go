package nodetype

import "encoding/json"

// Agent is the agent node: a task for a command-line agent, which works in a folder. The program pflow-node-agent runs it.
type Agent struct {
	Prompt            string                     `json:"prompt" required:"" help:"the task"`
	Backend           string                     `json:"backend" default:"\"claude\"" enum:"[\"claude\",\"codex\"]" help:"the agent: claude (claude -p) or codex (codex exec)"`
	Command           string                     `json:"command" help:"the agent's program, a name on PATH or a path, optionally followed by arguments to put before all others; by default the name of the backend"`
	Cwd               string                     `json:"cwd" help:"the agent's working directory; by default the run's"`
	AddDir            []string                   `json:"add_dir" help:"further directories that the agent may work in"`
	Model             string                     `json:"model" help:"the model; by default the agent's own choice"`
	SystemPrompt      string                     `json:"system_prompt" help:"text added to the agent's system prompt"`
	AllowedTools      []string                   `json:"allowed_tools" help:"tools that the agent may use without asking; with AskUserQuestion among them it may ask a person (claude)"`
	DisallowedTools   []string                   `json:"disallowed_tools" help:"tools that the agent must not use (claude)"`
	PermissionMode    string                     `json:"permission_mode" help:"the permission mode, such as acceptEdits or plan (claude)"`
	ApprovalPolicy    string                     `json:"approval_policy" enum:"[\"untrusted\",\"on-request\",\"never\"]" help:"when commands need an approval (codex): untrusted, on-request or never"`
	Sandbox           json.RawMessage            `json:"sandbox" help:"for codex read-only, workspace-write or full-access (also called danger-full-access); for claude an object of sandbox settings, such as {\"network\": {\"allowedDomains\": []}}, which is enabled unless it says otherwise"`
	Profile           string                     `json:"profile" help:"a profile of the configuration (codex)"`
	Config            map[string]json.RawMessage `json:"config" help:"values in place of those in the agent's configuration, by dotted names (codex)"`
	UseAPIKey         *bool                      `json:"use_api_key" help:"true requires an API key in the environment or in env (ANTHROPIC_API_KEY; for codex CODEX_API_KEY or OPENAI_API_KEY), false withholds these keys from the agent, so that its login is used; by default the agent decides"`
	MaxTurns          int                        `json:"max_turns" default:"50" help:"the maximum number of turns: answers of the model (claude), or messages and actions (codex)"`
	MaxThinkingTokens *int                       `json:"max_thinking_tokens" help:"the maximum number of tokens of thinking of one answer, for models that have such a limit; 0 turns thinking off (claude)"`
	MaxCostUSD        *float64                   `json:"max_cost_usd" help:"the maximum cost in US dollars (claude)"`
	Timeout           Seconds                    `json:"timeout" default:"300" help:"how long the agent may take before it and all its processes are stopped"`
	OutputSchema      json.RawMessage            `json:"output_schema" help:"a JSON Schema; the result is then a value that fits it"`
	SchemaRetries     int                        `json:"schema_retries" default:"1" help:"how often the agent is asked again, in the same session, for a result that fits output_schema, at most 5"`
	Resume            string                     `json:"resume" help:"the id of a session to continue, with the cwd in which it began"`
	Env               Texts                      `json:"env" help:"environment variables to add"`
}

// AgentOutputs are the outputs of an agent node. If it failed, they hold the session, the turns and the usage, as far as the
// agent reported them.
type AgentOutputs struct {
	Result    json.RawMessage `json:"result,omitempty" help:"the agent's last message: text, or with output_schema a value"`
	SessionID string          `json:"session_id" help:"the id of the session, for resume"`
	Turns     int             `json:"turns" help:"the number of turns taken"`
	Denied    []string        `json:"denied" help:"tools that the agent asked for and was denied"`
	LLMUsage  *Usage          `json:"llm_usage,omitempty" help:"model, input_tokens, output_tokens, total_tokens, cache_creation_input_tokens, cache_read_input_tokens, and cost_usd if the agent reports it; for codex, of the whole session"`
	Error     string          `json:"error,omitempty" help:"why the node failed; absent if it did not"`
}

func describeAgent() Type {
	t := describe("agent", "Give a task to a command-line agent, such as claude or codex", Agent{}, AgentOutputs{})
	t.Program = ProgramPrefix + t.Name
	return t
}
