package journal

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home/input"
)

// Log is the output of a node's processes on one of their streams, of all attempts, iterations and items.
type Log struct {
	// Node is the node's path, Stream is "stdout" or "stderr".
	Node, Stream string
}

// Logs returns the existing logs of some nodes, in the order of the nodes, stdout first.
func (r *Reader) Logs(nodes []string) ([]Log, error) {
	entries, err := os.ReadDir(filepath.Join(r.dir, logsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, storageFault("list the run's logs", err)
	}
	existing := map[string]bool{}
	for _, e := range entries {
		existing[e.Name()] = true
	}
	var logs []Log
	for _, node := range nodes {
		for _, stream := range []string{"stdout", "stderr"} {
			if existing[logName(node, stream)] {
				logs = append(logs, Log{node, stream})
			}
		}
	}
	return logs, nil
}

// FollowLogs calls each with the content of the logs of some nodes, as it comes, in pieces that end with a whole line unless
// the line is very long. It calls nodes repeatedly, for there may be more of them. It returns when the run has ended and
// everything is read, when ctx ends, or when each fails. If follow is false, it reads what there is and returns.
func (r *Reader) FollowLogs(ctx context.Context, follow bool, nodes func() ([]string, error), each func(l Log, piece []byte) error) error {
	begun := map[Log]*tail{}
	var order []Log
	for last := !follow || !r.Held(); ; {
		names, err := nodes()
		if err != nil {
			return err
		}
		logs, err := r.Logs(names)
		if err != nil {
			return err
		}
		for _, l := range logs {
			if begun[l] == nil {
				begun[l], order = &tail{path: filepath.Join(r.dir, logsDir, logName(l.Node, l.Stream))}, append(order, l)
			}
		}
		for _, l := range order {
			err := begun[l].read(last, func(piece []byte) error {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				return each(l, piece)
			})
			if err != nil {
				return err
			}
		}
		if last {
			return nil
		}
		if last = !r.Held(); last { // read once more: output may have come since the last read
			continue
		}
		timer := time.NewTimer(50 * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// tail reads a log that grows. It opens the file for each read, for there may be more logs than files that can be open.
type tail struct {
	path string
	at   int64
	rest []byte
}

// maxPiece is the largest size of a piece in bytes. A longer line comes in several.
const maxPiece = 64 << 10

// read calls each with what has come since the last read: whole lines, or everything if all is set.
func (t *tail) read(all bool, each func(piece []byte) error) error {
	f, err := input.OpenRegular(t.path, "A log of the run")
	if err != nil {
		return storageFault("read the run's logs", err)
	}
	defer func() { _ = f.Close() }()
	buf := make([]byte, maxPiece)
	for {
		n, err := f.ReadAt(buf, t.at)
		t.at += int64(n)
		t.rest = append(t.rest, buf[:n]...)
		for len(t.rest) > 0 {
			end := slices.Index(t.rest, '\n') + 1
			if end == 0 && len(t.rest) >= maxPiece || end > maxPiece {
				end = event.WholeText(t.rest[:maxPiece])
			}
			if end == 0 {
				break
			}
			if err := each(t.rest[:end]); err != nil {
				return err
			}
			t.rest = t.rest[end:]
		}
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return storageFault("read the run's logs", err)
		case n > 0:
		case all && len(t.rest) > 0:
			rest := t.rest
			t.rest = nil
			return each(rest)
		default:
			return nil
		}
	}
}
