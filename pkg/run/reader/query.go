package reader

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/run/index"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Query selects runs. An empty field selects all.
type Query struct {
	// Workflow is the name of the runs' workflow.
	Workflow string
	Status   event.Status
	// Since and Until are the earliest and the latest start.
	Since, Until time.Time
	// Inputs are inputs that the runs have, by their names, as text.
	Inputs map[string]string
	// Text are words that all occur in the workflow's name, its description or the run's error, in any case.
	Text string
	// Before is the id of a run: only older ones are selected. The run need not exist.
	Before string

	// Redacted is called with the name of an input whose value a run did not record because it is secret. Such a value matches
	// nothing. Redacted may be nil.
	Redacted func(input string)
}

// Check returns a fault if no run can have the status.
func (q Query) Check() error {
	if q.Status == "" || slices.Contains(Statuses(), q.Status) {
		return nil
	}
	f := fault.New(fault.Usage, "%q is not a status of a run", q.Status)
	for _, s := range Statuses() {
		f.Available = append(f.Available, string(s))
	}
	if near, ok := fault.Nearest(string(q.Status), f.Available); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return f
}

// answer is yes or no if the facts decide whether a query selects a run, and unknown if they are cut.
type answer int

const (
	no answer = iota
	unknown
	yes
)

// match returns whether the query selects a run. load returns blobs of the run.
func (q *Query) match(f *index.Facts, load event.Load) answer {
	if q.Workflow != "" && q.Workflow != f.Workflow || q.Status != "" && q.Status != f.Status ||
		!q.Since.IsZero() && (f.StartedAt == nil || f.StartedAt.Before(q.Since)) ||
		!q.Until.IsZero() && (f.StartedAt == nil || f.StartedAt.After(q.Until)) {
		return no
	}
	all := q.matchText(f)
	for name, value := range q.Inputs {
		if all == no {
			return no
		}
		all = min(all, q.matchInput(f, name, value, load))
	}
	return all
}

func (q *Query) matchText(f *index.Facts) answer {
	if q.Text == "" {
		return yes
	}
	text := strings.ToLower(f.Workflow + "\n" + f.Description + "\n" + f.Error)
	for word := range strings.FieldsSeq(strings.ToLower(q.Text)) {
		if !strings.Contains(text, word) {
			if f.CutTexts {
				return unknown
			}
			return no
		}
	}
	return yes
}

func (q *Query) matchInput(f *index.Facts, name, value string, load event.Load) answer {
	same := func(is bool) answer {
		if is {
			return yes
		}
		return no
	}
	if digest := member(f.Digests, name); digest.Exists() {
		return same(digest.Str == event.Digest([]byte(value)))
	}
	inputs := f.Inputs
	if ref, ok := event.ReferenceOf(inputs); ok {
		content, err := load(ref.Blob)
		if err != nil {
			return no
		}
		inputs = content
	}
	input := member(inputs, name)
	if !input.Exists() {
		if f.CutInputs {
			return unknown
		}
		return no
	}
	plain, err := event.Plain([]byte(input.Raw), load)
	if err != nil {
		return no
	}
	text := template.AsText(plain)
	if text == redact.Mark {
		if q.Redacted != nil {
			q.Redacted(name)
		}
		return no
	}
	return same(text == value)
}

// member returns the member of an object with the given key.
func member(object []byte, key string) (found gjson.Result) {
	gjson.ParseBytes(object).ForEach(func(k, v gjson.Result) bool {
		if k.Str == key {
			found = v
		}
		return !found.Exists()
	})
	return found
}

// Cursor returns the id of the run that a page of a list ended with, from its text. It is "" for an empty text.
func Cursor(text string) (string, error) {
	id := strings.ToLower(text)
	if text != "" && !journal.IsID(id) {
		return "", fault.New(fault.Usage, "The cursor %q is not the id of a run", text).Suggest("Give the run_id of the last run of the page before")
	}
	return id, nil
}
