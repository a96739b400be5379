package nodetype

import "encoding/json"

// LLM is the llm node: one question to a language model. The program pflow-node-llm asks it.
type LLM struct {
	Prompt             string                     `json:"prompt" required:"" help:"the question"`
	System             string                     `json:"system" help:"the system prompt"`
	Images             []string                   `json:"images" depends_on:"world" help:"images for the model: paths of PNG, JPEG, GIF or WebP files (at most 20 MiB together), http or https URLs, or data: URLs"`
	Model              string                     `json:"model" help:"the model; by default PFLOW_LLM_MODEL, else llm.default_model in settings.json. PROVIDER/MODEL names the provider too: openai, anthropic, gemini, openrouter, ollama, groq, mistral or deepseek; beside base_url the name is sent as it is"`
	Provider           string                     `json:"provider" enum:"[\"openai\",\"anthropic\"]" help:"the API: openai (chat completions, which most servers have) or anthropic (messages); by default that of the provider which the model names, else llm.provider in settings.json, else chosen by the name of the model"`
	BaseURL            string                     `json:"base_url" help:"the URL of the API, such as http://localhost:8000/v1; by default that of the model's provider, or the variable PROVIDER_BASE_URL (OPENAI_BASE_URL and so on) from the environment or from env in settings.json"`
	APIKey             string                     `json:"api_key" help:"the key; by default PROVIDER_API_KEY (OPENAI_API_KEY, GEMINI_API_KEY and so on; none for ollama) from the environment or from env in settings.json. These defaults are sent only to the provider's own URL and to PROVIDER_BASE_URL; any other base_url needs its own api_key, if any"`
	Temperature        *float64                   `json:"temperature" help:"the temperature, from 0 to 2 (at most 1 is sent to the anthropic API); by default the model's"`
	MaxTokens          int                        `json:"max_tokens" help:"the maximum number of tokens in the answer, including thinking; by default the API's limit, or 8192 if the API requires a number"`
	OutputSchema       json.RawMessage            `json:"output_schema" help:"a JSON Schema of an object, which the answer must fit; if it does not, the model is asked once more, and then the node fails"`
	ReasoningEffort    string                     `json:"reasoning_effort" enum:"[\"none\",\"minimal\",\"low\",\"medium\",\"high\"]" help:"how much the model thinks, if it can: none, minimal, low, medium or high; by default the model's"`
	ReasoningMaxTokens int                        `json:"reasoning_max_tokens" help:"the maximum number of tokens of thinking (anthropic, gemini, openrouter), in place of reasoning_effort; less than max_tokens if both are given"`
	PromptCache        bool                       `json:"prompt_cache" default:"false" help:"true asks the provider to keep system and prompt in its cache for the next request that begins with them: anthropic and openrouter mark both, openai gets a prompt_cache_key; other providers do so by themselves or not at all"`
	ModelOptions       map[string]json.RawMessage `json:"model_options" help:"further fields of the request, as the provider's API names them, such as top_p or seed"`
	Retries            int                        `json:"retries" default:"2" help:"the maximum number of retries if the service is busy, fails or cannot be reached; a Retry-After of up to two minutes is respected"`
	Timeout            Seconds                    `json:"timeout" default:"300" help:"how long the whole exchange may take, including retries"`
}

// LLMOutputs are the outputs of an llm node.
type LLMOutputs struct {
	Response   json.RawMessage `json:"response" help:"the answer: text without an enclosing code fence, or with output_schema an object"`
	Model      string          `json:"model" help:"the model that answered"`
	StopReason string          `json:"stop_reason" help:"why the answer ended, as the API names it"`
	LLMUsage   *Usage          `json:"llm_usage" help:"model, input_tokens (including cached ones), output_tokens, total_tokens, cache_creation_input_tokens, cache_read_input_tokens, and cost_usd if llm.prices in settings.json has the model or the API reports it"`
	Error      string          `json:"error,omitempty" help:"why the node failed; absent if it did not"`
}

// Usage is what a call of a language model used. The runner sums up the outputs llm_usage of all nodes.
type Usage struct {
	Model               string `json:"model,omitempty"`
	InputTokens         int64  `json:"input_tokens"`
	OutputTokens        int64  `json:"output_tokens"`
	TotalTokens         int64  `json:"total_tokens"`
	CacheCreationTokens int64  `json:"cache_creation_input_tokens"`
	CacheReadTokens     int64  `json:"cache_read_input_tokens"`
	// CostUSD is nil if the price is not known.
	CostUSD *float64 `json:"cost_usd,omitempty"`
}

// MaxTokens is the greatest plausible number of tokens of one call.
const MaxTokens = 1 << 40

// maxCost is the greatest plausible cost of one call in US dollars.
const maxCost = 1e9

// Plausible returns a usage without the impossible values that a server may report: a count that is negative or greater than
// MaxTokens becomes 0, and an impossible cost becomes nil.
func (u Usage) Plausible() Usage {
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
	t.Program, t.DependsOn = ProgramPrefix+t.Name, OnValues
	return t
}
