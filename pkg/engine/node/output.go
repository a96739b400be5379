package node

import (
	"io"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// MaxOutput is the most bytes of a process's standard output, and of its standard error, that become a node's outputs.
const MaxOutput = 128 << 20

// capture returns a capture of at most MaxOutput bytes for one output of the task's process.
func (t *Task) capture() *event.Capture {
	c := &event.Capture{}
	if t.Capture != nil {
		c = t.Capture()
	}
	c.Limit = MaxOutput
	return c
}

// capturedOutput captures what a process prints and copies it to a log. It calls stop when the capture is full.
type capturedOutput struct {
	capture *event.Capture
	log     io.Writer
	stop    func()
}

// Write never fails.
func (w *capturedOutput) Write(b []byte) (int, error) {
	if w.capture.Truncated() {
		return len(b), nil
	}
	_, _ = w.capture.Write(b)
	if w.log != nil {
		_, _ = w.log.Write(b)
	}
	if w.capture.Truncated() {
		w.stop()
	}
	return len(b), nil
}

// overflowFault is the fault of a process that printed more than MaxOutput; what is "command" or "code".
func overflowFault(what string) *fault.Fault {
	return fault.New(fault.TooLarge, "The %s printed more than %d MiB and was stopped", what, MaxOutput>>20).
		Suggest("Write large data to a file and pass its path on, or make the %s print less", what)
}

// limitedOutput passes on at most left bytes of what a process prints. It calls stop when there are more.
type limitedOutput struct {
	to   io.Writer
	left int
	stop func()
}

// Write never fails.
func (w *limitedOutput) Write(b []byte) (int, error) {
	_, _ = w.to.Write(b[:min(len(b), w.left)])
	if w.left -= len(b); w.left < 0 {
		w.left = 0
		w.stop()
	}
	return len(b), nil
}

// boundedBuffer holds the first bytes that are written to it, at most most.
type boundedBuffer struct {
	data      []byte
	most      int
	truncated bool
}

// Write never fails. It sets truncated when it drops bytes.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	n := len(p)
	if room := b.most - len(b.data); n > room {
		b.truncated, p = true, p[:room]
	}
	b.data = append(b.data, p...)
	return n, nil
}
