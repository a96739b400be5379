package llm

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// tokens returns a token count from a server, or 0 if it is not a plausible one.
func tokens(count gjson.Result) int64 {
	if count.Num >= 0 && count.Num <= nodetype.MaxTokens {
		return int64(count.Num)
	}
	return 0
}

// cost returns the cost of a usage in US dollars, by the price of the first of the models that has one, or nil.
func cost(prices map[string]settings.Price, u *nodetype.Usage, models ...string) *float64 {
	for _, model := range models {
		p, ok := priceOf(prices, model)
		if !ok {
			continue
		}
		read, write := p.Input, p.Input
		if p.CacheRead != nil {
			read = *p.CacheRead
		}
		if p.CacheWrite != nil {
			write = *p.CacheWrite
		}
		fresh := max(0, u.InputTokens-u.CacheReadTokens-u.CacheCreationTokens)
		dollars := (float64(fresh)*p.Input + float64(u.CacheReadTokens)*read + float64(u.CacheCreationTokens)*write + float64(u.OutputTokens)*p.Output) / 1e6
		return &dollars
	}
	return nil
}

// priceOf returns the price for the name of a model, or for the longest pattern such as "gpt-*" that matches it.
func priceOf(prices map[string]settings.Price, model string) (settings.Price, bool) {
	if p, ok := prices[model]; ok {
		return p, true
	}
	best, found := "", false
	for pattern := range prices {
		beginning, isPattern := strings.CutSuffix(pattern, "*")
		if isPattern && strings.HasPrefix(model, beginning) && (!found || len(pattern) > len(best)) {
			best, found = pattern, true
		}
	}
	return prices[best], found
}
