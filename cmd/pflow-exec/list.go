package main

import (
	"io"
	"iter"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type listCommand struct {
	Workflow string   `help:"List only runs of this workflow." placeholder:"NAME" complete:"saved"`
	Status   string   `help:"List only runs with this status: running, queued, interrupted, completed, degraded, failed, cancelled, timed_out, paused or denied." placeholder:"STATUS" complete:"status"`
	Since    string   `help:"List only runs that started at this time or later: RFC 3339, a date (its local midnight), or how long ago, such as 2h or 7d." placeholder:"TIME"`
	Until    string   `help:"List only runs that started at this time or earlier, written as for --since." placeholder:"TIME"`
	Input    []string `help:"List only runs with this value of an input. May be given several times: all must match." placeholder:"KEY=VALUE" sep:"none"`
	Text     string   `help:"List only runs whose workflow's name, description or error have all these words." placeholder:"WORDS"`
	Limit    int      `help:"List at most the newest N; 0 lists all." placeholder:"N"`
	Page     bool     `help:"Print one JSON object with runs and, unless that is the last page, next_cursor, as --max-bytes does."`
	Cursor   string   `help:"List only runs older than RUN: the last one of the page before. It need not exist any more." placeholder:"RUN" complete:"run"`
}

// Help returns the longer text of --help.
func (listCommand) Help() string {
	return `Without options it lists all runs of the home. The next page of a list with --limit is that with --cursor and the run_id of the
last line. With --page or --max-bytes the JSON is one object with runs and, unless that is the last page, next_cursor. The value of a secret input is not recorded, so --input does not find it. A long text is compared in full.

    pflow-exec list --status failed --since 1d
    pflow-exec list --workflow deploy --input region=eu-west-1 --limit 1
    pflow-exec list --text 'connection refused' --format text`
}

// Run lists runs, newest first.
func (c *listCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	q, err := c.query(time.Now())
	if err != nil {
		return err
	}
	redacted := map[string]bool{}
	q.Redacted = func(input string) {
		if !redacted[input] {
			redacted[input] = true
			app.Warn("Runs do not record the value of the secret input %s, so --input %s=… does not match it", input, input)
		}
	}
	items, more, err := c.collect(app, reader.Open(h).List(q))
	if err != nil {
		return err
	}
	text := func(w io.Writer) { writeRuns(w, items, app.Stdout.Columns()) }
	if !c.paged(app) {
		return cli.List(app, items, text)
	}
	answer := runPage{Runs: items}
	if more {
		answer.NextCursor = items[len(items)-1].RunID
	}
	return app.Document(answer, text)
}

// paged reports whether the answer is a runPage.
func (c *listCommand) paged(app *cli.App) bool { return c.Page || app.MaxBytes > 0 }

// runPage is one page of a list of runs.
type runPage struct {
	Runs []reader.Summary `json:"runs"`
	// NextCursor is the last run, or empty on the last page.
	NextCursor string `json:"next_cursor,omitempty"`
}

// collect returns the first runs, as many as the flags allow, and whether there are more.
func (c *listCommand) collect(app *cli.App, runs iter.Seq2[reader.Summary, error]) (items []reader.Summary, more bool, err error) {
	items = []reader.Summary{}
	room := app.MaxBytes
	for s, err := range runs {
		switch {
		case err != nil && s.RunID == "":
			return nil, false, err
		case err != nil:
			app.Log.Warn("a run's journal cannot be read", "run", s.RunID, "error", err)
			continue
		case c.Limit > 0 && len(items) == c.Limit:
			return items, true, nil
		}
		if app.MaxBytes > 0 {
			raw, err := rawjson.Marshal(runPage{Runs: []reader.Summary{s}, NextCursor: s.RunID}) // with what is around it
			if err != nil {
				return nil, false, err
			}
			if room -= len(raw); room < 0 && len(items) > 0 {
				return items, true, nil
			}
			room += len(`{"runs":[],"next_cursor":""}`) + len(s.RunID) - len(",")
		}
		items = append(items, s)
		if c.Limit > 0 && len(items) == c.Limit && !c.paged(app) {
			break // there is no page that would have to say whether there are more
		}
	}
	return items, false, nil
}

func writeRuns(w io.Writer, items []reader.Summary, columns int) {
	var table cells.Table
	for _, i := range items {
		when := ""
		if i.StartedAt != nil {
			when = i.StartedAt.Local().Format(time.DateTime)
		}
		table.Row(i.RunID, string(i.Status), when, i.Workflow)
	}
	_ = table.Write(w, columns)
}

// query returns what the flags select.
func (c *listCommand) query(now time.Time) (q reader.Query, err error) {
	if c.Limit < 0 {
		return q, fault.New(fault.Usage, "--limit must be at least 0, got %d", c.Limit)
	}
	q = reader.Query{Workflow: c.Workflow, Status: event.Status(c.Status), Text: c.Text, Inputs: map[string]string{}}
	if q.Since, err = moment("--since", c.Since, now); err != nil {
		return q, err
	}
	if q.Until, err = moment("--until", c.Until, now); err != nil {
		return q, err
	}
	for _, input := range c.Input {
		key, value, ok := strings.Cut(input, "=")
		if !ok || key == "" {
			return q, fault.New(fault.Usage, "--input %q is not KEY=VALUE", input)
		}
		if before, twice := q.Inputs[key]; twice && before != value {
			return q, fault.New(fault.Usage, "--input %s is given with two values, which no run has", key)
		}
		q.Inputs[key] = value
	}
	q.Before, err = reader.Cursor(c.Cursor)
	return q, err
}

// moment returns the time that a flag's text stands for: RFC 3339, a date, which is its midnight in the zone of now, or a duration
// before now. It is zero if the text is empty.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if at, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return at, nil
	}
	ago, err := cli.Duration(text)
	if err != nil {
		return time.Time{}, fault.New(fault.Usage, "%s is not a time: %q", strings.TrimPrefix(flag, "--"), fault.Truncate(text, 100)).
			Suggest("Write a time such as %s, a date such as %s, or how long ago: 30m, 2h, 7d", now.UTC().Format(time.RFC3339), now.Format(time.DateOnly))
	}
	return now.Add(-ago), nil
}
