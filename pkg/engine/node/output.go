package node

import (
	"encoding/json"
	"io"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// MaxOutput is the most bytes that a process may write on one stream if the run has no other limit. It is also the most bytes
// of a text that is read as JSON, such as the result of a program, and of a file that is read.
const MaxOutput = 128 << 20

// Output collects one output of a process as a value of the stream, as event.Capture does.
type Output interface {
	io.Writer
	// Value returns the output; strip removes newlines at the end of a text. It is called once.
	Value(strip bool) (json.RawMessage, error)
	// Binary reports whether the output is not UTF-8 text.
	Binary() bool
	// Tail returns the last n bytes, at most 4 KiB.
	Tail(n int) []byte
	// Discard drops the output if its value is not needed.
	Discard()
}

// capture returns what collects one output of the task's process.
func (t *Task) capture() Output {
	if t.Capture != nil {
		return t.Capture()
	}
	return &event.Capture{}
}

// streamLimit returns the most bytes that the task's process may write on one stream.
func (t *Task) streamLimit() int64 {
	if t.StreamLimit > 0 {
		return t.StreamLimit
	}
	return MaxOutput
}

// count counts n bytes that the node puts out. It returns how many of them may be stored, and a fault unless all may.
func (t *Task) count(n int) (allowed int, f *fault.Fault) {
	if t.Count == nil {
		return n, nil
	}
	return t.Count(n)
}

// output returns a writer for what a process writes on one stream. At the limit of the stream, and at that of the run, it
// calls stop with the fault. what begins a sentence about the process, such as "The command".
func (t *Task) output(what string, stop func(error), to ...io.Writer) *processOutput {
	return &processOutput{task: t, to: to, stop: stop, left: t.streamLimit(), over: overflowFault(what, t.streamLimit())}
}

// limit makes most the limit of the stream, with its own fault, unless the stream has a lower one.
func (w *processOutput) limit(most int64, over *fault.Fault) *processOutput {
	if w.left >= most {
		w.left, w.over = most, over
	}
	return w
}

// processOutput passes on what a process writes on one stream, up to the limits.
type processOutput struct {
	task *Task
	to   []io.Writer
	stop func(error)
	// left is how many bytes the stream may still have, over the fault of one that has more.
	left int64
	over *fault.Fault
	// fault is set when a limit was exceeded. Everything after that is dropped.
	fault *fault.Fault
}

// Write never fails.
func (w *processOutput) Write(b []byte) (int, error) {
	n := len(b)
	if w.fault != nil {
		return n, nil
	}
	if int64(n) > w.left {
		b, w.fault = b[:w.left], w.over
	}
	allowed, f := w.task.count(len(b))
	if f != nil {
		b, w.fault = b[:allowed], f
	}
	w.left -= int64(len(b))
	for _, to := range w.to {
		if to != nil {
			_, _ = to.Write(b)
		}
	}
	if w.fault != nil {
		w.stop(w.fault)
	}
	return n, nil
}

// exceeded returns the fault of the first stream that has exceeded a limit, or nil. A process may end by itself before it is
// stopped because of it.
func exceeded(streams ...*processOutput) *fault.Fault {
	for _, s := range streams {
		if s.fault != nil {
			return s.fault
		}
	}
	return nil
}

// overflowFault is the fault of a process that wrote more than limit bytes on one stream.
func overflowFault(what string, limit int64) *fault.Fault {
	f := fault.New(fault.TooLarge, "%s printed more than %s and was stopped: see runtime.max_output", what, rawjson.Bytes(limit))
	f.Detail("setting", "runtime.max_output").Detail("limit", limit)
	return f.Suggest(`Print less, or write large data to a file and pass its path on, or set a larger limit in the workflow: "runtime": {"max_output": "8GiB"}`)
}
