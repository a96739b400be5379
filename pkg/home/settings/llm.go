package settings

import (
	"fmt"
	"maps"
	"slices"
)

// LLM has the defaults of nodes of type llm.
type LLM struct {
	// DefaultModel is upstream pflow's llm.default_model.
	DefaultModel string `json:"default_model"`
	// Provider is "openai", "anthropic" or "", with which the model's name decides.
	Provider string `json:"provider"`
	// Prices has a price for each model, or for all models whose name begins with the text before a *.
	Prices map[string]Price `json:"prices"`
}

// Price is in dollars for a million tokens. A nil price for cached tokens means the price of the input.
type Price struct {
	Input      float64  `json:"input"`
	Output     float64  `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
}

func checkLLM(l *LLM) error {
	if p := l.Provider; p != "" && p != "openai" && p != "anthropic" {
		f := invalid("%s: llm.provider must be openai or anthropic, not %q", File, p)
		f.Path = "llm.provider"
		return f
	}
	for _, model := range slices.Sorted(maps.Keys(l.Prices)) {
		p := l.Prices[model]
		least := min(p.Input, p.Output)
		for _, cached := range []*float64{p.CacheRead, p.CacheWrite} {
			if cached != nil {
				least = min(least, *cached)
			}
		}
		if least < 0 {
			f := invalid("%s: llm.prices of %q has a price below 0", File, model)
			f.Path = fmt.Sprintf("llm.prices[%q]", model)
			return f.Suggest(`Write dollars for a million tokens: {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}`)
		}
	}
	return nil
}
