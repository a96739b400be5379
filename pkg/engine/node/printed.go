package node

import (
	"io"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// printed takes what a process prints until that is too much, and then stops it.
type printed struct {
	capture *event.Capture
	log     io.Writer
	over    func()
}

// Write never fails.
func (w *printed) Write(b []byte) (int, error) {
	if w.capture.Truncated() {
		return len(b), nil
	}
	_, _ = w.capture.Write(b)
	if w.log != nil {
		_, _ = w.log.Write(b)
	}
	if w.capture.Truncated() {
		w.over()
	}
	return len(b), nil
}

// overflow is the fault of a command, or of code, that does not stop printing.
func overflow(what string) *fault.Fault {
	return fault.New(fault.TooLarge, "The %s printed more than %d MiB and was stopped", what, MaxOutput>>20).
		Suggest("Write large data to a file and pass its path on, or let the %s print less", what)
}

// limited passes on what a process prints as long as that is not too much, and then stops it.
type limited struct {
	to   io.Writer
	left int
	over func()
}

// Write never fails.
func (w *limited) Write(b []byte) (int, error) {
	_, _ = w.to.Write(b[:min(len(b), w.left)])
	if w.left -= len(b); w.left < 0 {
		w.left = 0
		w.over()
	}
	return len(b), nil
}
