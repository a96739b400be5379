package agent

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// report holds what one call of an agent reported.
type report struct {
	session, model string
	turns          int
	usage          nodetype.Usage
	usageKnown     bool
	// done reports whether the agent finished. Its last message is text, and structured if it has a structured output.
	done       bool
	text       string
	structured json.RawMessage
	// value is the last message if it is JSON other than text. missing reports whether there is no last message.
	value   json.RawMessage
	missing bool
	// over reports whether the agent has begun nothing new since it finished.
	over   bool
	denied []string
	// asks are the questions and the denied uses of tools that the agent's output marks.
	asks []ask
	// deferred reports that the tool in asks waits for a person, and the agent with it.
	deferred bool
	failure  *failure
	// waiting is why the agent waits for its model, and waitingStatus the HTTP status of that, if it is known.
	waiting       string
	waitingStatus int

	last    string          // the id of the last answer of the agent itself
	answer  string          // the id of the last answer of the agent or a subagent
	pending nodetype.Usage  // the usage of that answer, which each of its parts repeats
	seen    map[string]bool // the ids that are counted as turns
}

// ask is a use of a tool that needs a person: it was denied, or it asks.
type ask struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// setText sets the last message of the agent, which is usually text.
func (r *report) setText(v gjson.Result) {
	r.text, r.value, r.missing = v.Str, nil, !v.Exists() || v.Type == gjson.Null
	if v.Type != gjson.String && !r.missing {
		r.value, r.text = json.RawMessage(v.Raw), v.Raw
	}
}

// countAnswer adds the usage of an answer. The result at the end has the total.
func (r *report) countAnswer(id string, u nodetype.Usage) {
	if id == r.answer {
		r.usage = minus(r.usage, r.pending)
	}
	r.answer, r.pending, r.usageKnown = id, u, true
	r.usage = sum(r.usage, u)
}

// maxCount limits each count, so that sums do not overflow.
const maxCount = 1 << 50

func count(n int64) int64 { return min(max(n, 0), maxCount) }

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

// add adds the report of a call to the job.
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
	if !r.usageKnown {
		return
	}
	j.usageKnown = true
	if j.backend.cumulative() {
		j.usage = r.usage
		return
	}
	j.usage = sum(j.usage, r.usage)
}

// cost returns the cost of the calls so far, as far as it is known.
func (j *job) cost() float64 {
	if j.usage.CostUSD == nil {
		return 0
	}
	return *j.usage.CostUSD
}

// usedWith returns the usage of the calls before and of one that goes on, or nil if it is not known.
func (j *job) usedWith(r *report) *nodetype.Usage {
	if !j.usageKnown && !r.usageKnown {
		return nil
	}
	total := sum(j.usage, r.usage)
	if j.backend.cumulative() && r.usageKnown {
		total = r.usage
	}
	total.Model = cmp.Or(r.model, j.model, j.in.Model)
	return &total
}
