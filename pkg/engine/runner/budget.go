package runner

import (
	"slices"

	"github.com/pflow-suite/pflow/pkg/event"
)

// budgetOf returns what the run and those that it continues may spend, or nil. What is asked for wins over what was asked for in
// the run that it continues, and that over what the workflow says.
func budgetOf(l *Launch) *event.Budget {
	b := &event.Budget{}
	if own := l.top.Workflow.Budget; own != nil {
		b.Spending = event.Spending{USD: own.USD, Tokens: int64(own.Tokens), Minutes: own.Minutes}
	}
	if l.from != nil && l.from.Started.Budget != nil {
		had := *l.from.Started.Budget
		give(b, had.Spending, func(field string) bool { return slices.Contains(had.Given, field) })
	}
	give(b, l.request.Budget, func(string) bool { return true })
	if b.IsZero() {
		return nil
	}
	return b
}

// give sets the fields of a budget that are given.
func give(b *event.Budget, to event.Spending, given func(field string) bool) {
	for _, f := range []struct {
		name string
		set  bool
		copy func()
	}{
		{event.USD, to.USD > 0, func() { b.USD = to.USD }},
		{event.Tokens, to.Tokens > 0, func() { b.Tokens = to.Tokens }},
		{event.Minutes, to.Minutes > 0, func() { b.Minutes = to.Minutes }},
	} {
		if !f.set || !given(f.name) {
			continue
		}
		if f.copy(); !slices.Contains(b.Given, f.name) {
			b.Given = append(b.Given, f.name)
		}
	}
}
