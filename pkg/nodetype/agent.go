package nodetype

import "encoding/json"

// Agent is the agent node: a task for a command-line agent, which works in a folder. The program pflow-node-agent runs it.
type Agent struct {
	Prompt          string          `json:"prompt" required:"" help:"the task"`
	Backend         string          `json:"backend" default:"\"claude\"" enum:"[\"claude\",\"codex\"]" help:"which agent: claude (claude -p) or codex (codex exec)"`
	Command         string          `json:"command" help:"its program, from PATH or a path, with words to put before its own arguments; by default the one that is called as the backend"`
	Cwd             string          `json:"cwd" help:"the folder it works in, by default the run's"`
	Model           string          `json:"model" help:"the model, by default the agent's own choice"`
	SystemPrompt    string          `json:"system_prompt" help:"added to the agent's system prompt"`
	AllowedTools    []string        `json:"allowed_tools" help:"tools it may use without asking (claude)"`
	DisallowedTools []string        `json:"disallowed_tools" help:"tools it may not use (claude)"`
	PermissionMode  string          `json:"permission_mode" help:"what it may do unasked, in the agent's own words: of claude, such as acceptEdits or plan"`
	Sandbox         string          `json:"sandbox" enum:"[\"read-only\",\"workspace-write\",\"danger-full-access\"]" help:"what it may touch (codex): read-only, workspace-write or danger-full-access"`
	MaxTurns        int             `json:"max_turns" default:"50" help:"how many turns it may take: answers of its model (claude), or things it says and does (codex)"`
	MaxCostUSD      *float64        `json:"max_cost_usd" help:"how much it may cost (claude)"`
	Timeout         Seconds         `json:"timeout" default:"300" help:"seconds until it and all it started are stopped"`
	OutputSchema    json.RawMessage `json:"output_schema" help:"a JSON Schema: the result is then a value that fits it"`
	Resume          string          `json:"resume" help:"go on with the session of this id, in the folder it was made in"`
	Env             Texts           `json:"env" help:"variables added to the environment"`
}

// AgentOutputs is what an agent node leaves behind. Of a node that failed there are the session, the turns and what they
// used, as far as the agent told them.
type AgentOutputs struct {
	Result    json.RawMessage `json:"result,omitempty" help:"what it says at the end: text, or with output_schema a value"`
	SessionID string          `json:"session_id" help:"the session, to go on with"`
	Turns     int             `json:"turns" help:"how many turns it took"`
	Denied    []string        `json:"denied" help:"tools that it was not allowed to use (claude)"`
	LLMUsage  *Usage          `json:"llm_usage,omitempty" help:"model, input_tokens, output_tokens, total_tokens, cache_creation_input_tokens, cache_read_input_tokens, and cost_usd where the agent tells it; of codex the whole session's"`
	Error     string          `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

func describeAgent() Type {
	t := describe("agent", "Give a task to a command-line agent, such as claude or codex", Agent{}, AgentOutputs{})
	t.Program = ProgramPrefix + t.Name
	return t
}
