package event

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Usage is a run's use of language models: the sum of its nodes' outputs llm_usage, including failed attempts, without what
// was reused from an earlier run.
type Usage struct {
	// Calls counts the node executions that reported a usage.
	Calls               int      `json:"calls"`
	Models              []string `json:"models,omitempty"`
	InputTokens         int64    `json:"input_tokens"`
	OutputTokens        int64    `json:"output_tokens"`
	TotalTokens         int64    `json:"total_tokens"`
	CacheCreationTokens int64    `json:"cache_creation_input_tokens,omitempty"`
	CacheReadTokens     int64    `json:"cache_read_input_tokens,omitempty"`
	// CostUSD is the cost in dollars of the calls whose cost is known; nil if no cost is known.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// Unpriced counts the calls whose cost is unknown.
	Unpriced int `json:"unpriced,omitempty"`
}

// Larger numbers are taken for errors of the node that reported them.
const (
	maxTokens = 1 << 53
	maxCost   = 1e9
)

// maxModels is the most models that a usage names.
const maxModels = 20

// Add returns the usage with a node's output llm_usage added. u may be nil. Outputs without an object llm_usage change
// nothing.
func (u *Usage) Add(outputs []byte) *Usage {
	one := gjson.GetBytes(outputs, "llm_usage")
	if !one.IsObject() {
		return u
	}
	if u == nil {
		u = &Usage{}
	}
	u.Calls++
	for name, sum := range map[string]*int64{
		"input_tokens": &u.InputTokens, "output_tokens": &u.OutputTokens, "total_tokens": &u.TotalTokens,
		"cache_creation_input_tokens": &u.CacheCreationTokens, "cache_read_input_tokens": &u.CacheReadTokens,
	} {
		*sum = min(*sum+min(max(one.Get(name).Int(), 0), maxTokens), maxTokens)
	}
	if model := one.Get("model").String(); model != "" && !slices.Contains(u.Models, model) && len(u.Models) < maxModels {
		u.Models = append(u.Models, model)
	}
	if cost := one.Get("cost_usd"); cost.Type == gjson.Number && cost.Float() >= 0 && cost.Float() < maxCost {
		sum := cost.Float()
		if u.CostUSD != nil {
			sum += *u.CostUSD
		}
		u.CostUSD = &sum
	} else {
		u.Unpriced++
	}
	return u
}

// String returns the usage as one line for people.
func (u *Usage) String() string {
	if u == nil {
		return ""
	}
	parts := []string{
		fmt.Sprintf("%d model %s", u.Calls, map[bool]string{true: "call", false: "calls"}[u.Calls == 1]),
		fmt.Sprintf("%d tokens in", u.InputTokens), fmt.Sprintf("%d out", u.OutputTokens),
	}
	if u.CostUSD != nil {
		cost := fmt.Sprintf("$%.4f", *u.CostUSD)
		if u.Unpriced > 0 {
			cost = "at least " + cost
		}
		parts = append(parts, cost)
	}
	return strings.Join(parts, ", ")
}
