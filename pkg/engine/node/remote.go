package node

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// remote takes what comes from the other end of a runner before the reply.
type remote struct {
	runner *Runner
	task   *Task
	stop   func(error)
	// left is how many bytes may come, besides those of lines that the run's limit counts.
	left int64
	// logged is how many bytes of output have come, valued how many of long values, and counted how many of either were counted: a
	// process's output is mostly both.
	logged, valued, counted int
	values                  map[string]*remoteValue
	// fault is set if the runner was stopped: what comes after that is dropped.
	fault *fault.Fault
}

// remoteValue is a long value that comes in pieces. When it has ended, value stands for it.
type remoteValue struct {
	to    Output
	value json.RawMessage
	err   error
}

const (
	// maxReply is the most bytes that a runner may write besides output and long values: outputs of MaxOutput in base64, and progress.
	maxReply = 2 * MaxOutput
	// maxValues is the most long values of a reply.
	maxValues = 1 << 16
)

// remoteStdout passes on what a runner prints, up to the limit.
type remoteStdout struct {
	from *remote
	to   io.Writer
}

func (s *remoteStdout) Write(p []byte) (int, error) {
	s.from.left -= int64(len(p))
	if s.from.fault == nil {
		_, _ = s.to.Write(p)
	}
	if s.from.left < 0 {
		s.from.fail(fault.New(fault.TooLarge, "The runner printed more than %d MiB and was stopped", maxReply>>20).
			Suggest("A runner must print one reply and nothing else: see its command in the settings"))
	}
	return len(p), nil
}

// fail stops the runner.
func (r *remote) fail(f *fault.Fault) {
	if r.fault == nil {
		r.fault = f
		r.stop(f)
	}
}

// runnerStderr passes on what a runner says on standard error.
type runnerStderr struct{ to io.Writer }

func (s *runnerStderr) Write(p []byte) (int, error) {
	if s.to != nil {
		_, _ = s.to.Write(p)
	}
	return len(p), nil
}

// remoteLine is a line with which the other end of a runner passes on what a process of the node prints, or a piece of a long value.
type remoteLine struct {
	Log   *remotePiece `json:"log,omitempty"`
	Value *remotePiece `json:"value,omitempty"`
}

type remotePiece struct {
	Stream string `json:"stream,omitempty"`
	ID     string `json:"id,omitempty"`
	Text   string `json:"text,omitempty"`
	Base64 []byte `json:"base64,omitempty"`
	// End ends the value, and Strip removes newlines at its end if it is text.
	End   bool `json:"end,omitempty"`
	Strip bool `json:"strip,omitempty"`
}

func (p *remotePiece) bytes() []byte {
	if p.Base64 != nil {
		return p.Base64
	}
	return []byte(p.Text)
}

// take takes a line of output or of a long value; ok is false if it is neither.
func (r *remote) take(line []byte) (ok bool) {
	begin := bytes.TrimLeft(line, " \t")
	if bytes.HasPrefix(begin, requestBegin) {
		r.fail(r.runner.echoes())
		return true
	}
	begin = bytes.TrimLeft(begin, "{ \t")
	if !bytes.HasPrefix(begin, []byte(`"log"`)) && !bytes.HasPrefix(begin, []byte(`"value"`)) {
		return false
	}
	var l remoteLine
	if json.Unmarshal(line, &l) != nil {
		return false
	}
	var piece []byte
	switch {
	case r.fault != nil:
	case l.Log != nil && l.Log.Stream != "":
		piece = l.Log.bytes()
		r.log(l.Log.Stream, piece)
	case l.Value != nil && l.Value.ID != "":
		piece = l.Value.bytes()
		r.value(l.Value, piece)
	default:
		return false
	}
	if len(piece) > 0 {
		r.left += int64(len(line))
	}
	return true
}

// log takes a piece of what a process of the node has written.
func (r *remote) log(stream string, b []byte) {
	to := r.task.Stdout
	if stream == "stderr" {
		to = r.task.Stderr
	}
	if b = r.count(&r.logged, b); to != nil {
		_, _ = to.Write(b)
	}
}

// value takes a piece of a long value, or its end.
func (r *remote) value(p *remotePiece, b []byte) {
	v := r.values[p.ID]
	switch {
	case v == nil && len(r.values) == maxValues:
		r.fail(r.runner.speaksOtherwise("has sent more than " + strconv.Itoa(maxValues) + " long values"))
		return
	case v == nil:
		v = &remoteValue{to: r.task.capture()}
		r.values[p.ID] = v
	case v.to == nil:
		r.fail(r.runner.speaksOtherwise("has sent a long value that had ended"))
		return
	}
	_, _ = v.to.Write(r.count(&r.valued, b))
	if p.End {
		v.value, v.err = v.to.Value(p.Strip)
		v.to = nil
	}
}

// count adds the bytes to a total, and counts by how much that exceeds what has been counted. It returns those that may be stored.
func (r *remote) count(total *int, b []byte) []byte {
	*total += len(b)
	more := *total - r.counted
	if more <= 0 {
		return b
	}
	allowed, f := r.task.count(more)
	if r.counted += allowed; f != nil {
		r.fail(f)
		b = b[:max(0, len(b)-(more-allowed))]
	}
	return b
}

// end returns the result of a reply. Outputs count as far as they are more than what has come before.
func (r *remote) end(p *Call, reply *Reply) *Result {
	if more := r.valued + len(reply.Outputs) - r.counted; more > event.InlineLimit {
		if _, f := r.task.count(more); f != nil {
			return failedWithError(f)
		}
	}
	result := reply.result()
	if f := r.resolve(result); f != nil {
		return failedWithError(f)
	}
	if result.Fault != nil && p.kind.Program != "" {
		p.locate(result.Fault, r.task)
	}
	return result
}

// resolve replaces the references to long values in a result.
func (r *remote) resolve(result *Result) (f *fault.Fault) {
	if !bytes.Contains(result.Outputs, []byte(`"$blob":`)) {
		return nil
	}
	result.Outputs = event.MapReferences(result.Outputs, func(ref event.Reference) json.RawMessage {
		v := r.values[ref.Blob]
		switch {
		case v == nil || v.to != nil:
			f = r.runner.speaksOtherwise("has sent a reply with a long value that has not come")
			return json.RawMessage("null")
		case v.err != nil:
			result.StoreErr = v.err
			return json.RawMessage("null")
		}
		return v.value
	})
	if result.StoreErr != nil {
		result.Outputs = nil
	}
	return f
}

// discard drops the values that have not ended.
func (r *remote) discard() {
	for _, v := range r.values {
		if v.to != nil {
			v.to.Discard()
		}
	}
}

// LogLine returns a line with which output of a process is passed on to a runner. A piece has at most MaxPiece bytes.
func LogLine(stream string, piece []byte) []byte {
	return pieceLine(`{"log":{"stream":"`+stream+`",`, piece)
}

// ValueLine returns a line with a piece of at most MaxPiece bytes of the long value with the id.
func ValueLine(id string, piece []byte) []byte {
	return pieceLine(`{"value":{"id":"`+id+`",`, piece)
}

// ValueEnd returns the line that ends the long value with the id. strip removes newlines at its end if it is text.
func ValueEnd(id string, strip bool) []byte {
	end := `,"end":true`
	if strip {
		end += `,"strip":true`
	}
	return []byte(`{"value":{"id":"` + id + `"` + end + "}}\n")
}

// pieceLine returns the line that begins with begin. The piece follows as text, or as base64 if it is not text or has so many
// escapes that it would not fit into a line.
func pieceLine(begin string, piece []byte) []byte {
	text := event.String(piece)
	if text[0] == '"' && len(text) <= max(base64.StdEncoding.EncodedLen(len(piece)), shortPiece) {
		return slices.Concat([]byte(begin+`"text":`), text, []byte("}}\n"))
	}
	return []byte(begin + `"base64":"` + base64.StdEncoding.EncodeToString(piece) + "\"}}\n")
}

const (
	// MaxPiece is the most bytes of output in one line: in base64, they fit into a line.
	MaxPiece = 32 << 10
	// shortPiece is the length up to which text stays readable however many escapes it has.
	shortPiece = 1 << 10
)
