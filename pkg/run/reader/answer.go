package reader

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// Answer is the document of a run that has ended, or that still runs.
type Answer struct {
	Success bool            `json:"success"`
	RunID   string          `json:"run_id"`
	Status  event.Status    `json:"status"`
	Outputs json.RawMessage `json:"outputs"`
	// Checkpoint is nil after a success: there is nothing to go on from.
	Checkpoint *event.Checkpoint `json:"checkpoint"`
	Error      *fault.Fault      `json:"error,omitempty"`
	Usage      *event.Usage      `json:"usage,omitempty"`
	// ResumedBy is the newest run that continues this one. Then Resume is empty.
	ResumedBy string `json:"resumed_by,omitempty"`
	wayOn
	Warnings []string `json:"warnings,omitempty"`
	// OutputsTotal is the number of outputs if Outputs has only the first of them, and WarningsTotal that of Warnings.
	OutputsTotal  int `json:"outputs_total,omitempty"`
	WarningsTotal int `json:"warnings_total,omitempty"`
	// Next says how to wait on for a run that has not ended, how to answer a paused one, which run continues one that did not
	// succeed, or how to read the other outputs.
	Next string `json:"next,omitempty"`

	addressed bool
	// stored are the outputs as values of the stream, and load returns their blobs.
	stored json.RawMessage
	load   event.Load
}

// Unfinished returns the answer of a run that has not ended.
func (r *Run) Unfinished() *Answer {
	a := &Answer{Success: true, RunID: r.ID(), Status: journal.Running, Outputs: json.RawMessage("{}")}
	if status, err := r.Status(); err == nil && status == journal.Queued {
		a.Status = status
	}
	a.Next = waitNext(fault.Shell, a.Status, a.RunID)
	return a
}

// waitNext says how a reader waits for the end of a live run.
func waitNext(reader fault.Reader, status event.Status, id string) string {
	text := "The run goes on"
	if status == journal.Queued { // because of the limit on concurrent runs
		text = "The run begins when another one ends"
	}
	if wait := (fault.Step{Do: fault.DoWait, Run: id}).Words(reader); wait != "" {
		text += ". " + wait
	}
	return text
}

// Answer returns the answer of the run from its last event, or that of an interrupted run if last is nil. A reference
// replaces each text of more than limit characters; 0 is no limit.
func (r *Run) Answer(last *event.Event, limit int) (*Answer, error) {
	if last == nil {
		return r.interrupted(), nil
	}
	r.PointOn(last)
	a := &Answer{
		Success: last.Status.Succeeded(), RunID: last.Run, Status: last.Status, Error: last.Error, Usage: last.Usage, Warnings: last.Warnings,
		ResumedBy: r.Successor(),
	}
	a.ResumeBy(last.Resume)
	if !a.Success {
		a.Checkpoint = last.Checkpoint
	}
	var err error
	a.load = r.Blob
	if a.stored, err = r.storedOutputs(last); err != nil {
		return nil, err
	}
	a.Outputs, err = r.abridge(a.stored, limit)
	return a, err
}

// MapTexts replaces each of the warnings by what edit returns for it.
func (a *Answer) MapTexts(edit func(string) string) {
	a.Warnings = slices.Clone(a.Warnings)
	for i, text := range a.Warnings {
		a.Warnings[i] = edit(text)
	}
}

// Address makes Resume and Next speak to one reader.
func (a *Answer) Address(reader fault.Reader) {
	if a.addressed {
		return
	}
	a.addressed = true
	a.addressResume(reader)
	switch {
	case a.ResumedBy != "":
		if !a.Success {
			a.Next = continued(a.ResumedBy).Words(reader)
		}
	case reader.HasTools() && a.Status == event.Paused && a.Error != nil:
		a.askPerson(reader)
	case journal.IsLive(a.Status):
		a.Next = waitNext(reader, a.Status, a.RunID)
	}
}

// maxAnswered is the most bytes of how to answer a question in Next.
const maxAnswered = 1000

// askPerson makes Next of a paused run say how a client of tools answers: the words of the first answer, which the fault then need not
// repeat.
func (a *Answer) askPerson(reader fault.Reader) {
	for i, step := range a.Error.Next {
		if step.Do == fault.DoAnswer || step.Do == fault.DoAskPerson {
			f := *a.Error
			f.Next = slices.Delete(slices.Clone(f.Next), i, i+1)
			a.Error, a.Resume, a.Next = &f, "", fault.Truncate(step.Words(reader), maxAnswered)
			return
		}
	}
}

// interrupted returns the answer of a run that stopped without a last event.
func (r *Run) interrupted() *Answer {
	a := &Answer{
		RunID: r.ID(), Status: journal.Interrupted, Outputs: json.RawMessage("{}"), Error: r.interruption(), ResumedBy: r.Successor(),
		Checkpoint: &event.Checkpoint{RunID: r.ID(), CompletedNodes: []string{}},
	}
	a.ResumeBy(resumption(r))
	if h, _, err := r.outline(); err == nil { // else it may not even have begun
		a.Checkpoint.CompletedNodes = completed(h)
	}
	return a
}

// outputs returns the outputs of a run as one object. A reference that names the output replaces each long text.
func (r *Run) outputs(last *event.Event, limit int) (json.RawMessage, error) {
	outputs, err := r.storedOutputs(last)
	if err != nil {
		return nil, err
	}
	return r.abridge(outputs, limit)
}

// storedOutputs returns the outputs of a run as one object, a value of the stream.
func (r *Run) storedOutputs(last *event.Event) (json.RawMessage, error) {
	if ref, ok := event.ReferenceOf(last.Outputs); ok { // all of them together are long
		return r.Blob(ref.Blob)
	}
	return last.Outputs, nil
}

func (r *Run) abridge(outputs json.RawMessage, limit int) (json.RawMessage, error) {
	out := []byte{'{'}
	var failed error
	gjson.ParseBytes(outputs).ForEach(func(key, value gjson.Result) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		member := append(append([]byte{'{'}, key.Raw...), ':') // Abridge unescapes the key too
		member = append(append(member, value.Raw...), '}')
		member, failed = event.Abridge(member, limit, r.Blob, func(ref event.Reference) json.RawMessage { return ref.Placeholder(r.ID(), key.Str) })
		out = append(out, member[1:len(member)-1]...)
		return failed == nil
	})
	return append(out, '}'), failed
}
