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
)

// Log is what a node's processes said on one of their streams, of all attempts, iterations and items.
type Log struct {
	// Node is the node's path, Stream is "stdout" or "stderr".
	Node, Stream string
}

// Logs lists the logs that there are of some nodes, in the order of the nodes, stdout first.
func (r *Reader) Logs(nodes []string) ([]Log, error) {
	entries, err := os.ReadDir(filepath.Join(r.dir, logsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, recordFault("list the run's logs", err)
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[e.Name()] = true
	}
	var logs []Log
	for _, node := range nodes {
		for _, stream := range []string{"stdout", "stderr"} {
			if there[logName(node, stream)] {
				logs = append(logs, Log{node, stream})
			}
		}
	}
	return logs, nil
}

// FollowLogs passes on what the logs hold, in pieces that end with a whole line where they can, as it comes, until the run
// has ended and all is read, or ctx ends, or each fails. It asks nodes now and then which there are. When follow is false
// it ends with what there is now.
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
			if err := begun[l].read(last, func(piece []byte) error { return each(l, piece) }); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
		if last = !r.Held(); last { // one more look: what was written between the last look and now
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

// tail is a log that grows. Its file is open while it is read: there may be more logs than files that may be open.
type tail struct {
	path string
	at   int64
	rest []byte
}

// maxPiece is the most bytes that are passed on at once; a longer line comes in several pieces.
const maxPiece = 64 << 10

// read passes on what has come, whole lines as long as there may be more of the last one.
func (t *tail) read(all bool, each func(piece []byte) error) error {
	f, err := os.Open(t.path)
	if err != nil {
		return recordFault("read the run's logs", err)
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
			return recordFault("read the run's logs", err)
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
