package share

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/share/output"
)

// Result is what the owner of a job's id knows of it.
type Result struct {
	JobID       string     `json:"job_id"`
	Status      State      `json:"status"`
	Message     string     `json:"message"`
	CreatedAt   time.Time  `json:"created_at"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	CompletedAt *time.Time `json:"completed_at,omitempty"`
	DurationMS  *float64   `json:"duration_ms,omitempty"`
	// Outputs are an output.Inline or an output.Link each, by name. Those of a failed job are the ones that have a value.
	Outputs map[string]any `json:"outputs,omitzero"`
	// Errors are the failures of a failed job by the ids of nodes, and by _error for the whole run.
	Errors map[string]string `json:"errors,omitempty"`
	// RunID is for the server, which goes on with a stream. Callers get the job's id only.
	RunID string `json:"run_id,omitempty"`
}

// errWhole is the name of an error of the whole run.
const errWhole = "_error"

// Result returns the state of a job and, if it has ended, its outputs. If a token is given, a job of another token is as unknown as one that
// does not exist.
func (s *Service) Result(ctx context.Context, id string, token *string) (Result, error) {
	v, err := s.find(ctx, id, token)
	if err != nil {
		return Result{}, err
	}
	if v == nil {
		return Result{}, fault.New(fault.NotFound, "Job not found: %s. Jobs expire after 1 hour.", id).Detail("http_status", 404)
	}
	result := Result{JobID: id, Status: v.state, CreatedAt: v.job.Created, Message: message(v.state), RunID: v.id()}
	if v.run == nil {
		return result, nil
	}
	h, _, err := v.run.History()
	if err != nil {
		return Result{}, err
	}
	if h.Started != nil && v.state != Pending {
		result.StartedAt = &h.Started.Time
	}
	if v.state != Completed && v.state != Failed {
		return result, nil
	}
	v.ended(h, &result)
	outputs, err := v.outputs(h)
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Type == fault.TooLarge {
		result.Status, result.Message = Failed, message(Failed)
		result.Errors = map[string]string{errWhole: f.Message}
		return result, nil
	}
	if err != nil {
		return Result{}, err
	}
	if v.state == Failed {
		result.Errors = v.errors(h)
	}
	if v.state == Completed || len(outputs) > 0 {
		result.Outputs = map[string]any{}
	}
	for name, o := range outputs {
		result.Outputs[name] = o.Document(strings.TrimSuffix(s.BaseURL, "/")+"/api/mcp/outputs/"+id, name)
	}
	return result, nil
}

// find returns the view of a job, or nil if it is unknown.
func (s *Service) find(ctx context.Context, id string, token *string) (*view, error) {
	if err := CheckJob(id); err != nil {
		return nil, err
	}
	if s.Store == nil {
		return nil, nil
	}
	job, ok, err := s.Store.Job(ctx, id)
	if err != nil || !ok || token != nil && subtle.ConstantTimeCompare([]byte(*token), []byte(job.Token)) == 0 {
		return nil, err
	}
	if job.Run == "" { // the process that started the run may have been killed
		job.Run, _ = s.ofJob(id)
	}
	return s.view(job)
}

func message(state State) string {
	switch state {
	case Pending:
		return "Flow is queued and will start shortly. Call get_run_status again in 2-3 seconds."
	case Running:
		return "Flow is still executing. Call get_run_status again in 2-3 seconds to check progress."
	case Completed:
		return "Flow completed successfully! The outputs field contains the results."
	}
	return "Flow execution failed. Check the errors field for details."
}

// ended sets when the job has ended, and how long it took.
func (v *view) ended(h *history.Run, result *Result) {
	end := h.Time
	switch {
	case v.status == event.Paused:
		end = v.job.Created.Add(RunLimit)
	case h.Finished != nil:
		end, result.DurationMS = h.Finished.Time, h.Finished.DurationMS
	}
	result.CompletedAt = &end
	if result.DurationMS == nil && h.Started != nil {
		ms := float64(end.Sub(h.Started.Time).Microseconds()) / 1000
		result.DurationMS = &ms
	}
}

// errors returns the failures of a run.
func (v *view) errors(h *history.Run) map[string]string {
	failures := map[string]string{}
	for _, n := range h.Nodes {
		if n.State == history.Failed && !n.Handled && n.Error != nil {
			failures[n.Path] = n.Error.Message
		}
	}
	switch {
	case v.status == event.TimedOut, v.status == event.Paused:
		failures[errWhole] = fmt.Sprintf("Execution timed out after %d seconds", RunLimit/time.Second)
	case v.status == reader.Interrupted:
		failures[errWhole] = "The run was interrupted: the process that executed it has ended"
	case h.Finished != nil && h.Finished.Error != nil && (failures[h.Finished.Error.Node] == "" || len(failures) == 0):
		failures[errWhole] = h.Finished.Error.Message
	case len(failures) == 0:
		failures[errWhole] = "The run ended with the status " + string(v.status)
	}
	return failures
}

// outputs returns the outputs of a run that has ended, by name. The error is a fault of the type too_large if they are longer than MaxOutput.
func (v *view) outputs(h *history.Run) (map[string]output.Output, error) {
	values, err := reader.OutputsOf(v.run, h)
	if err != nil {
		return nil, err
	}
	stored := 0
	for _, value := range values {
		stored += len(value)
		event.MapReferences(value, func(ref event.Reference) json.RawMessage {
			stored += ref.Bytes
			return nil
		})
	}
	if stored > 2*MaxOutput { // nothing that long is loaded: base64 is a third longer than its content
		return nil, tooLarge(stored)
	}
	outputs, size := map[string]output.Output{}, 0
	for name, value := range values {
		if outputs[name], err = output.Of(value, v.run.Blob); err != nil {
			return nil, err
		}
		size += outputs[name].Size
	}
	if size > MaxOutput {
		return nil, tooLarge(size)
	}
	return outputs, nil
}

func tooLarge(size int) *fault.Fault {
	const unit = 1_000_000
	return fault.New(fault.TooLarge, "Output size (%.1fMB) exceeds maximum allowed (%dMB)", float64((size+unit/10-1)/(unit/10))/10, MaxOutput/unit)
}

// ParseOutput reads which output of which job is meant, {"job_id":TEXT,"key":TEXT}.
func ParseOutput(raw json.RawMessage) (id, key string, err error) {
	if id, _, err = ParseJob(raw); err != nil {
		return "", "", err
	}
	name := gjson.GetBytes(raw, "key")
	if name.Type != gjson.String {
		return "", "", invalid("key", "Output key must be a string")
	}
	return id, name.Str, nil
}

// Content is an output with its bytes. As JSON it is what a server needs to know of it.
type Content struct {
	JobID     string      `json:"job_id"`
	Key       string      `json:"key"`
	Type      output.Kind `json:"type"`
	Name      string      `json:"name"`
	MIMEType  string      `json:"mimeType"`
	SizeBytes int         `json:"size_bytes"`
	SHA256    string      `json:"sha256"`

	Bytes []byte `json:"-"`
}

// Output returns an output of a job that has ended. Its faults have the HTTP status of an answer as the detail http_status.
func (s *Service) Output(ctx context.Context, id, key string) (Content, error) {
	v, err := s.find(ctx, id, nil)
	switch {
	case err != nil:
		return Content{}, err
	case v == nil:
		return Content{}, fault.New(fault.NotFound, "Job not found. Jobs expire after 1 hour.").Detail("http_status", 404)
	case v.state == Pending || v.state == Running:
		f := fault.New(fault.Conflict, "Job is %s. Outputs are only available for completed jobs.", v.state)
		f.Retryable = true
		return Content{}, f.Detail("http_status", 400)
	}
	h, _, err := v.run.History()
	if err != nil {
		return Content{}, err
	}
	outputs, err := v.outputs(h)
	if err != nil && fault.From(err).Type != fault.TooLarge {
		return Content{}, err
	}
	o, ok := outputs[key]
	switch {
	case len(outputs) == 0:
		return Content{}, fault.New(fault.NotFound, "No outputs available for this job.").Detail("http_status", 404)
	case !ok:
		names := slices.Sorted(maps.Keys(outputs))
		return Content{}, fault.New(fault.NotFound, "Output %q not found.", key).Offer(key, names).Detail("http_status", 404)
	}
	content, err := o.Content(v.run.Blob)
	switch {
	case errors.Is(err, output.ErrBase64):
		return Content{}, fault.New(fault.Protocol, "Invalid output data format").Detail("http_status", 500)
	case errors.Is(err, output.ErrEmpty):
		return Content{}, fault.New(fault.Protocol, "Output data is empty").Detail("http_status", 500)
	case err != nil:
		return Content{}, err
	}
	sum := sha256.Sum256(content)
	return Content{
		JobID: id, Key: key, Type: o.Kind, Name: o.FileName(key), MIMEType: o.MIME, SizeBytes: len(content), SHA256: hex.EncodeToString(sum[:]), Bytes: content,
	}, nil
}
