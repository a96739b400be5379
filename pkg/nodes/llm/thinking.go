package llm

import (
	"cmp"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// The providers with the OpenAI API that have a field of their own for the tokens of thinking.
const (
	geminiName     = "gemini"
	openrouterName = "openrouter"
)

// minThinking is the least number of tokens of thinking that Anthropic's API accepts.
const minThinking = 1024

// checkThinking returns a fault for parameters about thinking that do not go together.
func checkThinking(p *nodetype.LLM) *fault.Fault {
	switch {
	case p.ReasoningMaxTokens < 0:
		return fault.New(fault.Execution, "reasoning_max_tokens must be at least 1, not %d", p.ReasoningMaxTokens)
	case p.ReasoningMaxTokens > 0 && p.ReasoningEffort != "":
		return fault.New(fault.Execution, "reasoning_effort and reasoning_max_tokens exclude each other").Suggest("Keep one of them")
	case p.ReasoningMaxTokens > 0 && p.MaxTokens > 0 && p.ReasoningMaxTokens >= p.MaxTokens:
		return fault.New(fault.Execution, "reasoning_max_tokens (%d) must be less than max_tokens (%d), which includes it", p.ReasoningMaxTokens, p.MaxTokens).
			Suggest("Increase max_tokens, or reduce reasoning_max_tokens")
	}
	return nil
}

// limitsThinking reports whether the API has a field for the maximum number of tokens of thinking.
func (e *endpoint) limitsThinking() bool {
	return e.api == anthropicName || e.provider == geminiName || e.provider == openrouterName
}

// thinkAnthropic sets max_tokens and the effort or the limit of a request of the messages API, with its output_config. Newer models
// take a name and decide themselves how much they think. Older ones take a number of tokens.
func (q *question) thinkAnthropic(body, output object) {
	limit := cmp.Or(q.maxTokens, defaultMaxTokens)
	room := func(budget int) {
		if q.maxTokens == 0 {
			limit += budget // thinking counts too
		}
	}
	switch {
	case q.thinking > 0:
		budget := max(minThinking, q.thinking)
		room(budget)
		body["thinking"] = object{"type": "enabled", "budget_tokens": budget}
	case q.effort == "":
	case q.effort == "none":
		body["thinking"] = object{"type": "disabled"}
	case !q.effortAsBudget:
		body["thinking"] = object{"type": "adaptive"}
		output["effort"] = strings.Replace(q.effort, "minimal", "low", 1)
	default:
		budget := map[string]int{"minimal": minThinking, "low": 2048, "medium": 8192, "high": 16384}[q.effort]
		room(budget)
		body["thinking"] = object{"type": "enabled", "budget_tokens": min(budget, max(minThinking, limit/2))}
	}
	body["max_tokens"] = limit
}

// thinkOpenAI sets the effort of a request of the chat completions API, and the field that limits the thinking where the provider has
// one: see openrouter.ai/docs/use-cases/reasoning-tokens and ai.google.dev/gemini-api/docs/openai.
func (x *exchange) thinkOpenAI(q *question, body object) {
	if q.effort != "" {
		body["reasoning_effort"] = q.effort
	}
	switch {
	case q.thinking == 0:
	case x.at.provider == openrouterName:
		body["reasoning"] = object{"max_tokens": q.thinking}
	default:
		body["extra_body"] = object{"google": object{"thinking_config": object{"thinking_budget": q.thinking}}}
	}
}
