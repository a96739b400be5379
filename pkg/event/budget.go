package event

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Spending is what a run has spent, or may spend. A field that is 0 limits nothing.
type Spending struct {
	USD     float64 `json:"usd,omitempty"`
	Tokens  int64   `json:"tokens,omitempty"`
	Minutes float64 `json:"minutes,omitempty"`
}

// Budget is what a run, with the runs that it continues, may spend.
type Budget struct {
	Spending
	// Given names the fields that were given to the run and are not from its workflow. A resumed run keeps them.
	Given []string `json:"given,omitempty"`
}

// The names of the fields.
const (
	USD     = "usd"
	Tokens  = "tokens"
	Minutes = "minutes"
)

// IsZero reports whether nothing is spent, or nothing limited.
func (s Spending) IsZero() bool { return s == Spending{} }

// SpendingOf returns the spending of a use of language models, which may be nil, and of a time.
func SpendingOf(u *Usage, took time.Duration) Spending {
	s := Spending{Minutes: math.Round(took.Minutes()*1e4) / 1e4}
	if u != nil {
		s.Tokens = u.TotalTokens
		if u.CostUSD != nil {
			s.USD = *u.CostUSD
		}
	}
	return s
}

// Plus returns the sum of two spendings.
func (s Spending) Plus(t Spending) Spending {
	return Spending{USD: s.USD + t.USD, Tokens: min(s.Tokens, maxTokens) + min(t.Tokens, maxTokens), Minutes: s.Minutes + t.Minutes}
}

// UsedUp returns the name of the first field of the budget that is used up, with the limit and what is spent of it, as text for
// people. It returns "" if none is.
func (s Spending) UsedUp(spent Spending) (field, limit, amount string) {
	switch {
	case s.USD > 0 && spent.USD >= s.USD:
		return USD, dollars(s.USD), dollars(spent.USD)
	case s.Tokens > 0 && spent.Tokens >= s.Tokens:
		return Tokens, tokens(s.Tokens), tokens(spent.Tokens)
	case s.Minutes > 0 && spent.Minutes >= s.Minutes:
		return Minutes, minutes(s.Minutes), minutes(spent.Minutes)
	}
	return "", "", ""
}

// Of returns one line for people: what is spent of a budget, without what that does not limit. It is "" without a budget.
func (s Spending) Of(b *Budget) string {
	var parts []string
	add := func(limited bool, spent, limit string) {
		if limited {
			parts = append(parts, spent+" of "+limit)
		}
	}
	if b != nil {
		add(b.USD > 0, dollars(s.USD), dollars(b.USD))
		add(b.Tokens > 0, strconv.FormatInt(s.Tokens, 10), tokens(b.Tokens))
		add(b.Minutes > 0, short(s.Minutes, 2), minutes(b.Minutes))
	}
	return strings.Join(parts, ", ")
}

func dollars(n float64) string { return "$" + short(n, 4) }
func tokens(n int64) string    { return strconv.FormatInt(n, 10) + " tokens" }
func minutes(n float64) string { return short(n, 2) + " minutes" }

// short formats a number with at most so many digits after the point.
func short(n float64, digits int) string {
	text := strconv.FormatFloat(n, 'f', digits, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
