package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type gcCommand struct {
	OlderThan string `help:"Remove what ended longer ago: 30d, 12h, 5m, or seconds." placeholder:"DURATION"`
	Keep      *int   `help:"Remove all but the newest N runs." placeholder:"N"`
	DryRun    bool   `help:"Tell what would go, and remove nothing." short:"n"`
}

// Help is the longer text of --help.
func (gcCommand) Help() string {
	return `Without --older-than and --keep, runs are kept for 30 days, and 10,000 of them at most; so they are once a day, when a
run ends, without being asked for. A run that is live, or being resumed, is never removed; one that was interrupted, or waits
for a person, goes as any other, and cannot be resumed then. With the runs go the cache's entries of that age. What the
processes of killed runs left running is ended.`
}

type collected struct {
	Removed []string `json:"removed"`
	Kept    int      `json:"kept"`
	Bytes   int64    `json:"bytes"`
	DryRun  bool     `json:"dry_run,omitempty"`
}

// Run removes runs that nobody needs any more.
func (c *gcCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	wanted, err := c.wanted()
	if err != nil {
		return err
	}
	got, err := runner.Collect(h, wanted)
	if err != nil {
		return err
	}
	done := collected{got.Removed, got.Kept, got.Bytes, c.DryRun}
	err = app.Document(done, func(w io.Writer) {
		what := map[bool]string{false: "removed", true: "would remove"}[c.DryRun]
		_, _ = fmt.Fprintf(w, "%s %d runs, kept %d\n", what, len(done.Removed), done.Kept)
	})
	if err != nil || got.Failed == nil {
		return err
	}
	app.Complain(fault.From(got.Failed))
	return cli.Status(1)
}

// wanted is what the flags ask for. Each given alone is the only limit.
func (c *gcCommand) wanted() (runner.Limits, error) {
	wanted := runner.DefaultLimits()
	wanted.DryRun = c.DryRun
	if c.OlderThan == "" && c.Keep == nil {
		return wanted, nil
	}
	wanted.OlderThan, wanted.Keep = -1, -1
	if c.OlderThan != "" {
		age, err := cli.Duration(c.OlderThan)
		if err != nil && strings.TrimRight(c.OlderThan, "smhd") != "0" { // which is all that has ended
			return wanted, err
		}
		wanted.OlderThan = age
	}
	if c.Keep != nil {
		if wanted.Keep = *c.Keep; wanted.Keep < 0 {
			return wanted, fault.New(fault.Usage, "--keep must be at least 0")
		}
	}
	return wanted, nil
}
