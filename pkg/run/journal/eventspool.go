package journal

import (
	"errors"
	"io"
	"os"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// maxSpooled is the most bytes of a stream of events that SpoolEvents stores.
const maxSpooled = 4 << 30

// SpoolEvents stores a stream of one run's events in a file of the home, so that it can be read again, and returns the path.
// The caller removes the file. The stream is read line by line: it returns the faults of event.Reader, and a usage_error if the
// stream does not begin with a run, or goes on with another one.
func SpoolEvents(h *home.Home, stream io.Reader) (path string, err error) {
	runs, err := h.Make("runs")
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(runs, newPrefix+"events-")
	if err != nil {
		return "", storageFault(storeEvents, err)
	}
	err = copyEvents(f, stream)
	if failed := f.Close(); err == nil && failed != nil {
		err = storageFault(storeEvents, failed)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// Scratch makes a folder of the home for files that a new run reads at its start, and returns its path. The caller removes it; one that a
// killed process has left is removed by Collect.
func Scratch(h *home.Home) (path string, err error) {
	runs, err := h.Make("runs")
	if err != nil {
		return "", err
	}
	if path, err = os.MkdirTemp(runs, newPrefix+"scratch-"); err != nil {
		return "", storageFault("store what a run is started with", err)
	}
	return path, nil
}

// storeEvents is the operation that a fault of a stream's file names.
const storeEvents = "store the events to go on from"

// copyEvents copies a stream to its end.
func copyEvents(to io.Writer, stream io.Reader) error {
	out := &countedFile{to: to}
	begun := false
	for events := event.NewReader(io.TeeReader(stream, out)); ; {
		h, err := events.Skim()
		switch {
		case out.err != nil:
			return storageFault(storeEvents, out.err)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case h.Event == event.RunStarted && begun:
			return fault.New(fault.Usage, "The stream of events has another run_started at byte %d", h.At).Suggest("Give the events of one run")
		case !begun && h.Event.IsOfNode():
			return fault.New(fault.Usage, "The stream of events does not begin with run_started but with %s", h.Event).
				Suggest("Give the events of one run, or its id").Then(fault.Step{Do: fault.DoEvents, Run: "RUN"})
		case out.size > maxSpooled:
			return fault.New(fault.Validation, "The stream of events has more than %d GiB, the limit for it", maxSpooled>>30).
				Suggest("Give the events as a file, which has no limit in all")
		}
		begun = begun || h.Event == event.RunStarted
	}
}

// countedFile counts what is written, and keeps the error of a write.
type countedFile struct {
	to   io.Writer
	size int64
	err  error
}

func (c *countedFile) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.size += int64(n)
	c.err = err
	return n, err
}
