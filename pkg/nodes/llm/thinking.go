package llm

import (
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

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

// think sets the effort or the limit of a request of the messages API. Newer models take a name and decide themselves how much
// they think. Older ones take a number of tokens.
func (q *question) think(p *anthropic.MessageNewParams) {
	room := func(budget int64) {
		if q.maxTokens == 0 {
			p.MaxTokens += budget // thinking counts too
		}
	}
	switch {
	case q.thinking > 0:
		budget := max(minThinking, int64(q.thinking))
		room(budget)
		p.Thinking = anthropic.ThinkingConfigParamOfEnabled(budget)
	case q.effort == "":
	case q.effort == "none":
		p.Thinking.OfDisabled = &anthropic.ThinkingConfigDisabledParam{}
	case !q.effortAsBudget:
		p.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{}
		p.OutputConfig.Effort = anthropic.OutputConfigEffort(strings.Replace(q.effort, "minimal", "low", 1))
	default:
		budget := map[string]int64{"minimal": minThinking, "low": 2048, "medium": 8192, "high": 16384}[q.effort]
		room(budget)
		p.Thinking = anthropic.ThinkingConfigParamOfEnabled(min(budget, max(minThinking, p.MaxTokens/2)))
	}
}

// thinkOpenAI sets the effort of a request of the chat completions API, and returns the fields that limit the thinking where the
// provider has some: see openrouter.ai/docs/use-cases/reasoning-tokens and ai.google.dev/gemini-api/docs/openai.
func (x *exchange) thinkOpenAI(q *question, p *openai.ChatCompletionNewParams) map[string]any {
	p.ReasoningEffort = shared.ReasoningEffort(q.effort)
	switch {
	case q.thinking == 0:
		return nil
	case x.at.provider == openrouterName:
		return map[string]any{"reasoning": map[string]any{"max_tokens": q.thinking}}
	default:
		return map[string]any{"extra_body": map[string]any{"google": map[string]any{"thinking_config": map[string]any{"thinking_budget": q.thinking}}}}
	}
}
