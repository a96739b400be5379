package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/reader"
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
	run, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	q := reader.LogQuery{Node: c.Node, Follow: c.Follow}
	if c.Stream != "all" {
		q.Stream = c.Stream
	}
	ctx, cancel := app.Context, context.CancelFunc(func() {})
	if c.Follow {
		ctx, cancel = app.WhileRead()
	}
	defer cancel()
	return run.Logs(ctx, q, func(l reader.Log, piece []byte) error {
		if app.JSON() {
			return app.JSONLine(logged{l.Node, l.Stream, event.String(piece)})
		}
		if c.Node != l.Node {
			piece = slices.Concat([]byte(l.Node+" | "), piece)
			if !bytes.HasSuffix(piece, []byte("\n")) {
				piece = append(piece, '\n')
			}
		}
		_, err := app.Stdout.Write(piece)
		return err
	})
}
