package agent

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// report is what one call of an agent told.
type report struct {
	session, model string
	turns          int
	usage          nodetype.Usage
	told           bool // of what was used
	// done says that the agent came to an end, and text or structured is what it said there.
	done       bool
	text       string
	structured json.RawMessage
	// value is what it said when that is JSON and no text, and missing says that there is neither.
	value   json.RawMessage
	missing bool
	// over says that it said so last, and has begun nothing new since.
	over    bool
	denied  []string
	failure *failure
	// waits is why the agent waits for its model, in its last word on that, and waitsStatus the HTTP status there.
	waits       string
	waitsStatus int

	last    string          // the id of the last answer of the agent's own model
	answer  string          // the id of the last answer of any model
	pending nodetype.Usage  // what that used, told again with each of its parts
	seen    map[string]bool // the ids of what is counted as a turn
}

// says takes what the agent says at its end: text as a rule.
func (r *report) says(v gjson.Result) {
	r.text, r.value, r.missing = v.Str, nil, !v.Exists() || v.Type == gjson.Null
	if v.Type != gjson.String && !r.missing {
		r.value, r.text = json.RawMessage(v.Raw), v.Raw
	}
}

// answered counts what an answer used, until the end tells the whole.
func (r *report) answered(id string, u nodetype.Usage) {
	if id == r.answer {
		r.usage = minus(r.usage, r.pending)
	}
	r.answer, r.pending, r.told = id, u, true
	r.usage = sum(r.usage, u)
}

// most is a bound of what is believed of a count, so that sums stay numbers.
const most = 1 << 50

func count(n int64) int64 { return min(max(n, 0), most) }

func sum(a, b nodetype.Usage) nodetype.Usage {
	u := nodetype.Usage{
		InputTokens: count(a.InputTokens + count(b.InputTokens)), OutputTokens: count(a.OutputTokens + count(b.OutputTokens)),
		CacheCreationTokens: count(a.CacheCreationTokens + count(b.CacheCreationTokens)),
		CacheReadTokens:     count(a.CacheReadTokens + count(b.CacheReadTokens)),
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	switch {
	case a.CostUSD != nil && b.CostUSD != nil:
		cost := *a.CostUSD + *b.CostUSD
		u.CostUSD = &cost
	case a.CostUSD != nil:
		u.CostUSD = a.CostUSD
	default:
		u.CostUSD = b.CostUSD
	}
	return u
}

func minus(a, b nodetype.Usage) nodetype.Usage {
	return sum(nodetype.Usage{}, nodetype.Usage{
		InputTokens: a.InputTokens - b.InputTokens, OutputTokens: a.OutputTokens - b.OutputTokens,
		CacheCreationTokens: a.CacheCreationTokens - b.CacheCreationTokens, CacheReadTokens: a.CacheReadTokens - b.CacheReadTokens,
	})
}

// add takes a call's report into what there is.
func (j *job) add(r *report) {
	if r.session != "" {
		j.session = r.session
	}
	if r.model != "" {
		j.model = r.model
	}
	if j.model == "" {
		j.model = j.in.Model
	}
	j.turns += r.turns
	for _, tool := range r.denied {
		if !slices.Contains(j.denied, tool) {
			j.denied = append(j.denied, tool)
		}
	}
	if !r.told {
		return
	}
	j.told = true
	if j.backend.cumulative() {
		j.usage = r.usage
		return
	}
	j.usage = sum(j.usage, r.usage)
}

// cost is what the calls so far cost, as far as it was told.
func (j *job) cost() float64 {
	if j.usage.CostUSD == nil {
		return 0
	}
	return *j.usage.CostUSD
}
