package runner

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// checkpointPath returns the absolute path of a checkpoint file, or a fault if the name cannot be one.
func checkpointPath(h *home.Home, name, resume string) (string, error) {
	switch {
	case resume != "":
		return "", fault.New(fault.Usage, "--checkpoint goes on from its file, so it cannot be combined with --resume").
			Suggest("Leave out one of the two")
	case name == "" || name == "-":
		return "", fault.New(fault.Usage, "--checkpoint needs the name of a file, got %q", name).
			Suggest("Standard output carries the events anyway; --resume - reads them from standard input")
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", fault.From(err)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if runs, err := filepath.EvalSymlinks(h.Path("runs")); err == nil && strings.HasPrefix(path, runs+string(filepath.Separator)) {
		return "", fault.New(fault.Usage, "The checkpoint file %s belongs to the runs of the home", name).
			Suggest("Name a file outside of it").Then(fault.Step{Do: fault.DoResume, Run: "RUN"})
	}
	return path, nil
}

// openEvents opens the file of the events to go on from, or the checkpoint file, which it locks.
func (l *Launch) openEvents(ctx context.Context) (err error) {
	r := l.request
	if r.Events != "" {
		if err := l.openStream(r.Events); err != nil {
			return err
		}
		if r.EventsSpooled {
			_ = os.Remove(r.Events)
		}
	}
	if r.Checkpoint == "" {
		return nil
	}
	if r.DryRun {
		l.file, err = journal.ReadEventFile(r.Checkpoint)
	} else {
		l.file, err = journal.OpenEventFile(ctx, r.Checkpoint, r.Sync)
	}
	if err != nil {
		return err
	}
	l.releases = append(l.releases, l.file.Close)
	if run := l.file.Run(); run != nil {
		l.events, l.whole = run, run.Size()
	}
	return nil
}

// openStream opens a file of events, of which it uses what is in it now.
func (l *Launch) openStream(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fault.New(fault.Usage, "Cannot read %s: %v", path, fault.Reason(err))
	}
	l.releases = append(l.releases, func() { _ = f.Close() })
	info, err := f.Stat()
	if err == nil {
		l.events = io.NewSectionReader(f, 0, info.Size())
		l.whole, err = wholeEvents(f, info.Size())
	}
	if err != nil {
		return fault.New(fault.Usage, "Cannot read %s: %v", path, fault.Reason(err))
	}
	return nil
}

// wholeEvents returns the length of the whole lines of a stream up to its last event. A program that fails writes an error
// behind it.
func wholeEvents(r io.ReaderAt, size int64) (int64, error) {
	for window := int64(64 << 10); ; window *= 4 {
		from := max(0, size-window)
		text := make([]byte, size-from)
		if _, err := r.ReadAt(text, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for {
			end := bytes.LastIndexByte(text, '\n')
			last := bytes.LastIndexByte(text[:max(end, 0)], '\n') + 1
			if end < 0 || last == 0 && from > 0 {
				break // the window does not have a whole line more
			}
			if gjson.GetBytes(text[last:end], "seq").Exists() {
				return from + int64(end) + 1, nil
			}
			text = text[:last]
		}
		if from == 0 || window >= maxTail {
			return 0, nil
		}
	}
}

// maxTail is how far from the end of a stream wholeEvents looks for an event: further than a line may be long.
const maxTail = 64 << 20

// checkCopied returns a fault if the checkpoint file does not have all events of the run.
func (l *Launch) checkCopied(last *event.Event) error {
	if l.file == nil || l.file.Err() == nil {
		return nil
	}
	return fault.New(fault.Internal, "The run ended as %s, but its events could not be written to %s: %v", last.Status, l.file.Path(), fault.Reason(l.file.Err())).
		Suggest("The same command goes on from there in this home").Then(fault.Step{Do: fault.DoEvents, Run: last.Run})
}
