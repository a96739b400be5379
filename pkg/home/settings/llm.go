package settings

import (
	"fmt"
	"maps"
	"slices"
)

// LLM is what nodes of type llm ask when they do not say it themselves.
type LLM struct {
	// DefaultModel is upstream pflow's llm.default_model.
	DefaultModel string `json:"default_model"`
	// Provider is "openai", "anthropic" or "", which lets the model's name decide.
	Provider string `json:"provider"`
	// Prices are by a model's name, or by the beginning of names with a * behind it.
	Prices map[string]Price `json:"prices"`
}

// Price is in dollars for a million tokens. What a cache's tokens cost is that of the input where it is nil.
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
