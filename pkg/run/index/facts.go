package index

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Facts are what lists and statistics need to know about a run.
type Facts struct {
	Run         string       `json:"run"`
	Workflow    string       `json:"workflow,omitempty"`
	Source      string       `json:"source,omitempty"`
	Path        string       `json:"path,omitempty"` // of the workflow's file
	Description string       `json:"description,omitempty"`
	Status      event.Status `json:"status"`
	// StartedAt and DurationMS are nil if the journal does not have them.
	StartedAt  *time.Time `json:"started_at,omitempty"`
	EndedAt    time.Time  `json:"ended_at,omitzero"`
	DurationMS *float64   `json:"duration_ms,omitempty"`
	Error      string     `json:"error,omitempty"`
	// Inputs is an object with values of the stream, or empty. In a line of the index, Digests has the digests of the texts of
	// long values instead, by their names.
	Inputs  json.RawMessage `json:"inputs,omitempty"`
	Digests json.RawMessage `json:"digests,omitempty"`
	// CutTexts is set if a line has only the beginning of the description or of the error, CutInputs if it does not have all inputs.
	CutTexts  bool `json:"cut_texts,omitempty"`
	CutInputs bool `json:"cut_inputs,omitempty"`
	// Size is the number of bytes of the run's journal. If the journal has another size, the line is not about it.
	Size int64 `json:"size"`
}

// Of returns the facts of a run from its first event and its last one, which is nil if the run has not ended. load returns
// blobs of the run.
func Of(run string, first, last *event.Event, load event.Load) *Facts {
	f := &Facts{Run: run}
	if first != nil && first.Workflow != nil {
		f.Workflow, f.Path, f.StartedAt, f.Inputs = first.Workflow.Name, first.Workflow.Path, &first.Time, first.Inputs
		f.Description = description(first.Workflow.Definition, load)
		if first.Again == nil || first.Again.Only == "" { // a run of one node has no statistics
			f.Source = first.Workflow.Source
		}
	}
	if last != nil {
		f.Status, f.EndedAt, f.DurationMS = last.Status, last.Time, last.DurationMS
		if last.Error != nil {
			f.Error = last.Error.Message
		}
	}
	return f
}

func description(definition json.RawMessage, load event.Load) string {
	if ref, ok := event.ReferenceOf(definition); ok {
		content, err := load(ref.Blob)
		if err != nil {
			return ""
		}
		definition = content
	}
	return gjson.GetBytes(definition, "description").String()
}

// The most bytes of the parts of a line.
const (
	maxText   = 400
	maxValue  = 64
	maxInputs = 1000
)

// shortened returns the facts as a line has them.
func (f *Facts) shortened() *Facts {
	short := *f
	short.Description, short.Error = cut(f.Description), cut(f.Error)
	short.CutTexts = short.Description != f.Description || short.Error != f.Error
	short.Inputs, short.Digests, short.CutInputs = shortInputs(f.Inputs)
	return &short
}

// cut returns the beginning of a text, at most maxText bytes.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "")
}

// shortInputs divides inputs into those with short values and the digests of the others. missing is set if there are more.
func shortInputs(inputs json.RawMessage) (short, digests json.RawMessage, missing bool) {
	if _, ok := event.ReferenceOf(inputs); ok {
		return nil, nil, true
	}
	size := 0
	gjson.ParseBytes(inputs).ForEach(func(key, value gjson.Result) bool {
		into, raw := &short, json.RawMessage(value.Raw)
		switch ref, long := event.ReferenceOf(raw); {
		case long && ref.Text():
			into, raw = &digests, rawjson.Quote([]byte(ref.Blob))
		case strings.Contains(value.Raw, `"$`) || strings.Contains(value.Raw, `"\u0024`): // another value of the stream than plain JSON
			missing = true
			return true
		case len(raw) > maxValue:
			into, raw = &digests, rawjson.Quote([]byte(event.Digest([]byte(template.AsText(raw)))))
		}
		if size += len(key.Raw) + len(raw) + 2; size > maxInputs {
			missing = true
			return false
		}
		separator := byte('{')
		if *into != nil {
			separator = ','
		}
		*into = append(append(append(append(*into, separator), key.Raw...), ':'), raw...)
		return true
	})
	for _, object := range []*json.RawMessage{&short, &digests} {
		if *object != nil {
			*object = append(*object, '}')
		}
	}
	return short, digests, missing
}

// parse reads the facts of a line whose checksum is right, so encode wrote it.
func parse(line string) (*Facts, bool) {
	f, ok := &Facts{}, true
	gjson.Parse(line).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "run":
			f.Run = value.Str
		case "workflow":
			f.Workflow = value.Str
		case "path":
			f.Path = value.Str
		case "source":
			f.Source = value.Str
		case "description":
			f.Description = value.Str
		case "status":
			f.Status = event.Status(value.Str)
		case "started_at":
			at, err := time.Parse(time.RFC3339Nano, value.Str)
			f.StartedAt, ok = &at, ok && err == nil
		case "ended_at":
			at, err := time.Parse(time.RFC3339Nano, value.Str)
			f.EndedAt, ok = at, ok && err == nil
		case "duration_ms":
			ms := value.Num // value would be kept whole
			f.DurationMS = &ms
		case "error":
			f.Error = value.Str
		case "inputs":
			f.Inputs = json.RawMessage(value.Raw)
		case "digests":
			f.Digests = json.RawMessage(value.Raw)
		case "cut_texts":
			f.CutTexts = value.Bool()
		case "cut_inputs":
			f.CutInputs = value.Bool()
		case "size":
			f.Size = value.Int()
		}
		return true
	})
	return f, ok && f.Run != "" && f.Status != ""
}

// Ended reports whether the run has ended, so that it does not change any more.
func (f *Facts) Ended() bool { return !f.EndedAt.IsZero() }
