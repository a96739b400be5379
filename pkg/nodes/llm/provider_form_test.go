package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/llmserver"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// TestWhatEachProviderIsSent checks the fields that differ from provider to provider.
func TestWhatEachProviderIsSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		p    nodetype.LLM
		path string
		want string
	}{
		"openrouter's system":   {nodetype.LLM{Model: "openrouter/a/b", System: "rules", PromptCache: true}, "messages.0.content.0.cache_control.type", "ephemeral"},
		"openrouter's prompt":   {nodetype.LLM{Model: "openrouter/a/b", PromptCache: true}, "messages.0.content.0.cache_control.type", "ephemeral"},
		"openrouter's thinking": {nodetype.LLM{Model: "openrouter/a/b", ReasoningMaxTokens: 500}, "reasoning.max_tokens", "500"},
		"gemini's thinking":     {nodetype.LLM{Model: "gemini/b", ReasoningMaxTokens: 500}, "extra_body.google.thinking_config.thinking_budget", "500"},
		"anthropic's thinking":  {nodetype.LLM{Model: "anthropic/b", ReasoningMaxTokens: 500}, "thinking.budget_tokens", "1024"},
		"its room":              {nodetype.LLM{Model: "anthropic/b", ReasoningMaxTokens: 5000}, "max_tokens", "13192"},
		"anthropic's options":   {nodetype.LLM{Model: "anthropic/b", ModelOptions: map[string]json.RawMessage{"top_k": json.RawMessage("3")}}, "top_k", "3"},
		"a number as written":   {nodetype.LLM{Model: "groq/b", ModelOptions: map[string]json.RawMessage{"seed": json.RawMessage("12345678901234567890")}}, "seed", "12345678901234567890"},
		"groq's cache":          {nodetype.LLM{Model: "groq/b", PromptCache: true}, "messages.0.content", "hello"},
		"another's openai":      {nodetype.LLM{Model: "openai/b", PromptCache: true}, "prompt_cache_key", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmserver.Start(t)
			a := Asker{Getenv: func(name string) string {
				if strings.HasSuffix(name, "_BASE_URL") {
					return s.URL + "/v1"
				}
				return secret
			}}
			c.p.Prompt, c.p.Timeout = "hello", ample
			if _, err := a.Ask(t.Context(), c.p); err != nil {
				t.Fatal(err)
			}
			if v := gjson.GetBytes(s.Requests()[0].Body, c.path); v.String() != c.want {
				t.Errorf("%s is %q, want %q in %s", c.path, v.String(), c.want, s.Requests()[0].Body)
			}
		})
	}
}

// TestOpenAIsCacheKey checks that questions with the same model and instructions have the same key, at OpenAI's own service.
func TestOpenAIsCacheKey(t *testing.T) {
	t.Parallel()
	x := &exchange{at: &endpoint{provider: openaiName, api: openaiName, own: true}}
	key := func(model, system string) string {
		raw, err := json.Marshal(x.openaiRequest(&question{model: model, system: system, cached: true, turns: []turn{{text: "a"}}}))
		if err != nil {
			t.Fatal(err)
		}
		return gjson.GetBytes(raw, "prompt_cache_key").Str
	}
	if a := key("m", "s"); a == "" || a != key("m", "s") || a == key("m", "t") || a == key("n", "s") {
		t.Errorf("the key is %q", a)
	}
}

func TestThinkingThatDoesNotGoTogether(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]nodetype.LLM{
		"effort and tokens":   {Model: "claude-x", ReasoningEffort: "low", ReasoningMaxTokens: 2000},
		"negative":            {Model: "claude-x", ReasoningMaxTokens: -1},
		"more than the whole": {Model: "claude-x", ReasoningMaxTokens: 2000, MaxTokens: 2000},
		"without a field":     {Model: "groq/x", ReasoningMaxTokens: 2000},
	} {
		a := Asker{Getenv: func(name string) string { return map[bool]string{true: secret}[strings.HasSuffix(name, "_API_KEY")] }}
		p.Prompt, p.Timeout = "x", 1
		if _, err := a.Ask(t.Context(), p); err == nil || !strings.Contains(err.Error(), "reasoning_max_tokens") && !strings.Contains(err.Error(), "thinking") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
