package llm

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// tokens is a count that a server tells; one that is none is 0.
func tokens(told gjson.Result) int64 {
	if told.Num >= 0 && told.Num <= nodetype.MaxTokens {
		return int64(told.Num)
	}
	return 0
}

// cost is what a usage costs by the price of the first of the models that has one, in dollars; nil where none has.
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

// priceOf finds the price under a model's name, or under its longest beginning.
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
