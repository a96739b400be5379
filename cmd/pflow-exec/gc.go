package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type gcCommand struct {
	OlderThan string `help:"Remove runs that ended longer ago than this: 30d, 12h, 5m, or 90s." placeholder:"DURATION"`
	Keep      *int   `help:"Keep the newest N runs and remove the others." placeholder:"N"`
	DryRun    bool   `help:"Print what would be removed, and remove nothing." short:"n"`
}

// Help returns the longer text of --help.
func (gcCommand) Help() string {
	return `Without --older-than and --keep it keeps the runs of the last 30 days, at most 10,000. This also happens once a day at the end
of a run. A run that is live or being resumed is never removed. One that was interrupted or waits for a person is removed
like any other, and cannot be resumed then. Entries of the cache that are older than the runs to keep are removed too, and
processes that killed runs and killed pflow-sync commands left behind are ended.`
}

type collected struct {
	Removed []string `json:"removed"`
	Kept    int      `json:"kept"`
	Bytes   int64    `json:"bytes"`
	DryRun  bool     `json:"dry_run,omitempty"`
}

// Run removes old runs.
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

// wanted returns the limits that the flags ask for. One flag alone is the only limit.
func (c *gcCommand) wanted() (runner.Limits, error) {
	wanted := runner.DefaultLimits()
	wanted.DryRun = c.DryRun
	if c.OlderThan == "" && c.Keep == nil {
		return wanted, nil
	}
	wanted.OlderThan, wanted.Keep = -1, -1
	if c.OlderThan != "" {
		age, err := cli.Duration(c.OlderThan)
		_, bare := strconv.ParseFloat(c.OlderThan, 64)
		switch {
		case strings.TrimRight(c.OlderThan, "smhd") == "0": // "0d" is every run that has ended
			age = 0
		case err != nil, bare == nil: // a number of seconds would remove nearly all runs
			return wanted, fault.New(fault.Usage, "--older-than %s is not a duration with a unit", c.OlderThan).Suggest("Write 90s, 5m, 12h, 1h30m or 30d")
		}
		wanted.OlderThan = age
	}
	if c.Keep != nil {
		if wanted.Keep = *c.Keep; wanted.Keep < 0 {
			return wanted, fault.New(fault.Usage, "--keep must be at least 0, got %d", wanted.Keep)
		}
	}
	return wanted, nil
}
