package main

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type eventsCommand struct {
	runArgument
	Follow bool `help:"Go on until the run ends or waits for a person." short:"f"`
}

// Help returns the longer text of --help.
func (eventsCommand) Help() string {
	return `The events are a checkpoint for any machine: long values are in them.

  pflow-temporal events RUN | pflow-exec run disk.json --resume -      # goes on here from what has finished there`
}

// Run prints the events of a run.
func (c *eventsCommand) Run(app *cli.App) error {
	ctx, cancel := app.WhileRead()
	defer cancel()
	to, err := c.connect(ctx, app)
	if err != nil {
		return err
	}
	defer to.Close()
	if !c.Follow {
		s, err := to.State(ctx, c.RunID)
		if err != nil {
			return err
		}
		return (&printed{}).print(app, s)
	}
	var before printed
	_, err = to.Await(ctx, c.RunID, func(s *cluster.State) error { return before.print(app, s) })
	return err
}

// printed is what has been printed of a run: the run in the home of a worker, and the number of its last event.
type printed struct {
	run string
	seq int64
}

// print prints the events of a run after those that were printed. If the run went on elsewhere since, it prints all.
func (p *printed) print(app *cli.App, s *cluster.State) error {
	return s.Each(func(line []byte, load event.Load) error {
		head := gjson.GetManyBytes(line, "run", "seq")
		run, seq := head[0].Str, head[1].Int()
		if run == p.run && seq <= p.seq {
			return nil
		}
		whole, err := event.Inline(bytes.TrimSuffix(line, []byte("\n")), load)
		if err != nil {
			return err
		}
		p.run, p.seq = run, seq
		_, err = app.Stdout.Write(append(whole, '\n'))
		return err
	})
}
