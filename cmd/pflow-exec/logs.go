package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type logsCommand struct {
	RunID  string `arg:"" name:"run" help:"A run's id, a beginning of it that no other has, or last."`
	Node   string `arg:"" optional:"" help:"This node alone, with those of its sub-workflow."`
	Follow bool   `help:"Go on until the run ends." short:"f"`
	Stream string `help:"Only stdout, or only stderr." enum:"all,stdout,stderr" default:"all" placeholder:"NAME"`
}

// Help is the longer text of --help.
func (logsCommand) Help() string {
	return `As text, on a terminal or with --format text, what the node said that is asked for stands as it is, and what others said
with the node's name before each line. Else each line is {"node","stream","text"}, and bytes that are no text are
{"$base64":"…"}. What a reused node said stands in the run that it was reused from.`
}

// logged is a piece of what a node's process said: a line, or a part of a very long one.
type logged struct {
	Node   string          `json:"node"`
	Stream string          `json:"stream"`
	Text   json.RawMessage `json:"text"`
}

// Run prints what the nodes' processes said, as it comes.
func (c *logsCommand) Run(app *cli.App) error {
	_, rec, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	if c.Node != "" {
		told, _, err := recorded(rec, history.Outline)
		if err == nil && told.Started != nil { // else it has just begun, and nobody knows its nodes yet
			err = known(rec, told, c.Node)
		}
		if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(app.Context)
	if c.Follow {
		ctx, cancel = app.WhileRead()
	}
	defer cancel()
	return rec.FollowLogs(ctx, c.Follow, c.nodes(rec), func(l journal.Log, piece []byte) error {
		if c.Stream != "all" && l.Stream != c.Stream {
			return nil
		}
		if app.JSON() {
			return app.JSONLine(logged{l.Node, l.Stream, event.String(piece)})
		}
		if c.Node != l.Node {
			piece = slices.Concat([]byte(l.Node+" | "), piece)
			if !strings.HasSuffix(string(piece), "\n") {
				piece = append(piece, '\n')
			}
		}
		_, err := app.Stdout.Write(piece)
		return err
	})
}

// nodes gives the nodes that have begun up to now, of those that are asked for. It goes on in the journal where it ended.
func (c *logsCommand) nodes(rec *journal.Reader) func() ([]string, error) {
	var nodes []string
	at := int64(0)
	return func() ([]string, error) {
		journal, err := rec.Open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = journal.Close() }()
		if _, err := journal.Seek(at, io.SeekStart); err != nil {
			return nil, fault.From(err)
		}
		from := at
		for events := event.NewReader(journal); ; {
			m, err := events.Skim()
			if errors.Is(err, io.EOF) {
				return nodes, nil
			}
			if err != nil {
				return nil, err
			}
			at = from + m.At + int64(m.Size)
			if m.Event == event.NodeStarted && c.within(m.Node) && !slices.Contains(nodes, m.Node) {
				nodes = append(nodes, m.Node)
			}
		}
	}
}

// within says whether a node is the one that is asked for, or in its sub-workflow.
func (c *logsCommand) within(path string) bool {
	rest, ok := strings.CutPrefix(path, c.Node)
	return c.Node == "" || ok && (rest == "" || strings.ContainsRune("/[#", rune(rest[0])))
}

// known refuses a node that a run does not have. One of a sub-workflow is there when it has begun.
func known(rec *journal.Reader, told *history.Run, path string) error {
	if told.Node(path) != nil {
		return nil
	}
	f := fault.New(fault.NotFound, "Run %s has no node %q", rec.ID, path)
	for n := range told.All() {
		f.Available = append(f.Available, n.Path)
	}
	if near, ok := fault.Nearest(path, f.Available); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return f
}
