package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type logsCommand struct {
	RunID  string `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, or last." complete:"run"`
	Node   string `arg:"" optional:"" help:"Print only this node and the nodes inside it." complete:"run-node"`
	Follow bool   `help:"Go on until the run ends." short:"f"`
	Stream string `help:"Print only stdout or only stderr." enum:"all,stdout,stderr" default:"all" placeholder:"NAME"`
	Raw    bool   `help:"On a terminal, print the control characters of the output too. They can change what the terminal shows."`
}

// Help returns the longer text of --help.
func (logsCommand) Help() string {
	return `On a terminal or with --format text, the output of NODE is printed without a prefix, and lines of other nodes begin with the
node's name. Otherwise each line is {"node","stream","text"}, with {"$base64":"…"} for bytes that are not text. The output
of a reused node is in the run that it was reused from.

With --max-bytes the JSON is one object with the last lines that fit in it.`
}

// logged is a line of the output of a node's process, or a part of a very long one.
type logged struct {
	Node   string          `json:"node"`
	Stream string          `json:"stream"`
	Text   json.RawMessage `json:"text"`
}

// Run prints the output of the nodes' processes, as it comes.
func (c *logsCommand) Run(app *cli.App) error {
	run, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	if c.Raw {
		app.Stdout.Raw()
	}
	q := reader.LogQuery{Node: c.Node, Follow: c.Follow}
	if c.Stream != "all" {
		q.Stream = c.Stream
	}
	if app.JSON() && app.MaxBytes > 0 {
		return c.page(app, run, q)
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

// page prints the end of the output as one document.
func (c *logsCommand) page(app *cli.App, run *reader.Run, q reader.LogQuery) error {
	if q.Follow {
		return fault.New(fault.Usage, "--max-bytes prints one document, so it does not go with --follow")
	}
	p := &logPage{RunID: run.ID(), Logs: []logged{}}
	most := app.MaxBytes - len(`{"run_id":"","logs":[],"omitted":9223372036854775807}`) - len(p.RunID) - len("\n")
	err := run.Logs(app.Context, q, func(l reader.Log, piece []byte) error { return p.add(l.Node, l.Stream, piece, most) })
	if err != nil {
		return err
	}
	return app.JSONLine(p)
}
