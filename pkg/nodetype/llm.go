package nodetype

import "encoding/json"

// LLM is the llm node: one question to a language model. The program pflow-node-llm asks it.
type LLM struct {
	Prompt          string          `json:"prompt" required:"" help:"the question"`
	System          string          `json:"system" help:"the system prompt: who the model is and how it answers"`
	Images          []string        `json:"images" help:"pictures to look at: paths of PNG, JPEG, GIF or WebP files, http or https URLs, or data: URLs; files have 20 MiB at most together"`
	Model           string          `json:"model" help:"the model; by default that of PFLOW_LLM_MODEL, else of settings.json (llm.default_model)"`
	Provider        string          `json:"provider" enum:"[\"openai\",\"anthropic\"]" help:"which API is spoken, openai (chat completions, which most servers speak) or anthropic (messages); by default that of settings.json (llm.provider), else by the model's name"`
	BaseURL         string          `json:"base_url" help:"where the API is, such as http://localhost:11434/v1; by default OPENAI_BASE_URL or ANTHROPIC_BASE_URL of the environment or of the env in settings.json, else the provider's own. A server that is named here gets the key of the environment or of settings.json only where it is the provider's own, or that of OPENAI_BASE_URL or ANTHROPIC_BASE_URL"`
	APIKey          string          `json:"api_key" help:"the key; by default OPENAI_API_KEY or ANTHROPIC_API_KEY of the environment or of the env in settings.json; these go only to the provider's own address and to that of OPENAI_BASE_URL or ANTHROPIC_BASE_URL: another server that base_url names needs its own, or may need none"`
	Temperature     *float64        `json:"temperature" help:"0 to 2, of which the anthropic API takes more than 1 as 1; by default the model's own"`
	MaxTokens       int             `json:"max_tokens" help:"the most tokens of the answer, thinking included; where the API wants a number, 8192 by default"`
	OutputSchema    json.RawMessage `json:"output_schema" help:"a JSON Schema of an object: the answer is then one that fits it. One that does not is asked for once more, then the node fails"`
	ReasoningEffort string          `json:"reasoning_effort" enum:"[\"none\",\"minimal\",\"low\",\"medium\",\"high\"]" help:"how much a model thinks that can: none, minimal, low, medium or high; by default the model's own"`
	Retries         int             `json:"retries" default:"2" help:"how often the question is asked again when the service is busy, fails or cannot be reached; Retry-After is obeyed, up to two minutes"`
	Timeout         Seconds         `json:"timeout" default:"300" help:"seconds for the whole exchange, with all that is asked again"`
}

// LLMOutputs is what an llm node leaves behind.
type LLMOutputs struct {
	Response   json.RawMessage `json:"response" help:"the answer: text, without a code fence around the whole of it, or with output_schema an object"`
	Model      string          `json:"model" help:"the model that answered"`
	StopReason string          `json:"stop_reason" help:"why the answer ended, in the API's words"`
	LLMUsage   *Usage          `json:"llm_usage" help:"model, input_tokens (all of the prompt, the cached among them), output_tokens, total_tokens, cache_creation_input_tokens, cache_read_input_tokens; cost_usd where settings.json (llm.prices) has the model's price or the API tells it"`
	Error      string          `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

// Usage is what a call of a language model used. The runner adds up what its nodes put out as llm_usage.
type Usage struct {
	Model               string `json:"model,omitempty"`
	InputTokens         int64  `json:"input_tokens"`
	OutputTokens        int64  `json:"output_tokens"`
	TotalTokens         int64  `json:"total_tokens"`
	CacheCreationTokens int64  `json:"cache_creation_input_tokens"`
	CacheReadTokens     int64  `json:"cache_read_input_tokens"`
	// CostUSD is nil where the price is not known.
	CostUSD *float64 `json:"cost_usd,omitempty"`
}

// MaxTokens is the most tokens that are believed of one call.
const MaxTokens = 1 << 40

// maxCost is the most dollars that are believed of one call.
const maxCost = 1e9

// Believed is a usage without what cannot be, as a server may tell it: a count below 0 or beyond all measure is 0, and such a
// cost is left out.
func (u Usage) Believed() Usage {
	for _, n := range []*int64{&u.InputTokens, &u.OutputTokens, &u.TotalTokens, &u.CacheCreationTokens, &u.CacheReadTokens} {
		if *n < 0 || *n > MaxTokens {
			*n = 0
		}
	}
	if u.CostUSD != nil && !(*u.CostUSD >= 0 && *u.CostUSD <= maxCost) {
		u.CostUSD = nil
	}
	return u
}

func describeLLM() Type {
	t := describe("llm", "Ask a language model", LLM{}, LLMOutputs{})
	t.Program = ProgramPrefix + t.Name
	return t
}
