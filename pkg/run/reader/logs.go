package reader

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// LogQuery selects what nodes' processes have written. An empty field selects all.
type LogQuery struct {
	// Node is the path of a node. The nodes inside it are selected too.
	Node string
	// Stream is "stdout" or "stderr".
	Stream string
	// Follow goes on until the run ends.
	Follow bool
}

// Log is what a node's processes have written on one of their streams.
type Log = journal.Log

// Logs calls each with what a query selects, as it comes, in pieces that end with a whole line if the line is not very
// long. It returns when it has read all, when ctx ends, or when each fails.
func (r *Run) Logs(ctx context.Context, q LogQuery, each func(l Log, piece []byte) error) error {
	if q.Node != "" {
		h, _, err := r.outline()
		if err == nil && h.Started != nil { // else it has just begun, and its nodes are not known yet
			err = r.known(h, q.Node)
		}
		if err != nil {
			return err
		}
	}
	return r.rec.FollowLogs(ctx, q.Follow, r.begun(q), func(l Log, piece []byte) error {
		if q.Stream != "" && l.Stream != q.Stream {
			return nil
		}
		return each(l, piece)
	})
}

// begun returns a function that returns the selected nodes that have begun. Each call reads on in the journal where the
// one before has ended.
func (r *Run) begun(q LogQuery) func() ([]string, error) {
	var nodes []string
	at := int64(0)
	return func() ([]string, error) {
		f, err := r.rec.Open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		if _, err := f.Seek(at, io.SeekStart); err != nil {
			return nil, fault.From(err)
		}
		from := at
		for events := event.NewReader(f); ; {
			header, err := events.Skim()
			if errors.Is(err, io.EOF) {
				return nodes, nil
			}
			if err != nil {
				return nil, err
			}
			at = from + header.At + int64(header.Size)
			if header.Event == event.NodeStarted && q.selects(header.Node) && !slices.Contains(nodes, header.Node) {
				nodes = append(nodes, header.Node)
			}
		}
	}
}

// selects reports whether a node is the one that is asked for, or inside it.
func (q LogQuery) selects(path string) bool {
	rest, ok := strings.CutPrefix(path, q.Node)
	return q.Node == "" || ok && (rest == "" || strings.ContainsRune("/[#", rune(rest[0])))
}
