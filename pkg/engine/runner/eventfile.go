package runner

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"

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
			Suggest("Name a file outside of it, or go on from the run: pflow-exec resume RUN")
	}
	return path, nil
}

// openEvents opens the events to go on from that are given as text or as a checkpoint file, and locks that file.
func (l *Launch) openEvents(ctx context.Context) (err error) {
	r := l.request
	if r.Events != nil {
		l.events, l.whole = io.NewSectionReader(bytes.NewReader(r.Events), 0, int64(len(r.Events))), int64(len(wholeEvents(r.Events)))
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

// checkCopied returns a fault if the checkpoint file does not have all events of the run.
func (l *Launch) checkCopied(last *event.Event) error {
	if l.file == nil || l.file.Err() == nil {
		return nil
	}
	return fault.New(fault.Internal, "The run ended as %s, but its events could not be written to %s: %v", last.Status, l.file.Path(), fault.Reason(l.file.Err())).
		Suggest("pflow-exec events %s prints them; the same command goes on from there in this home", last.Run)
}
