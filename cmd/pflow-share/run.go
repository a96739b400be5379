package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/share"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type runCommand struct {
	Requests bool `help:"Start a run for each line of standard input, {\"id\":ANY,\"arguments\":{\"token\":TEXT,\"inputs\":{NAME:TEXT}}}, and answer each with a line. For a server, which need not start a process for each call."`

	Token  string   `arg:"" optional:"" help:"The token, or - for the arguments of the tool run_flow on standard input: {\"token\":TEXT,\"inputs\":{NAME:TEXT}}."`
	Inputs []string `arg:"" optional:"" name:"key=value" help:"Inputs: KEY=VALUE, or KEY=@FILE for a file's text. They are text, which takes the declared types."`
}

// Help returns more text for --help.
func (runCommand) Help() string {
	return `The run is counted and started: it has the owner's keys and no other secret in its environment, and ends after 5 minutes. A run that
could not be created is not counted. The command does not wait for the end of the run; its job_id leads to the result.

With --requests it answers as soon as the run has started, in any order, with the id, the exit status that the request alone would have, and
the document: {"id":ANY,"exit":N,"document":{…}}. It ends with standard input.`
}

// Run starts a run of a shared workflow.
func (c *runCommand) Run(app *cli.App) error {
	switch {
	case c.Requests == (c.Token != ""):
		return fault.New(fault.Usage, "run needs either a token or --requests")
	case c.Requests:
		return answerRequests(app)
	}
	raw, err := c.arguments(app)
	if err != nil {
		return err
	}
	request, err := share.ParseRequest(raw)
	if err != nil {
		return err
	}
	service, stop, err := open(app, false)
	if err != nil {
		return share.Unavailable(err)
	}
	defer stop()
	started, err := service.Start(app.Context, request)
	if f := fault.From(err); f != nil {
		if status := statusOf(f); status != f.ExitStatus() {
			app.Report(f)
			return cli.Status(status)
		}
		return err
	}
	return app.Document(started, func(w io.Writer) { _, _ = fmt.Fprintln(w, started.JobID) })
}

// statusOf returns the exit status of a run that was not started.
func statusOf(f *fault.Fault) int {
	if f.Type == fault.Template { // found before anything ran, so the request was wrong
		return 2
	}
	return f.ExitStatus()
}

// arguments returns the arguments of run_flow: those on standard input, or those of the command line as such.
func (c *runCommand) arguments(app *cli.App) (json.RawMessage, error) {
	if c.Token == "-" {
		if len(c.Inputs) > 0 {
			return nil, fault.New(fault.Usage, "With - the inputs come from standard input too, so none can be given as KEY=VALUE")
		}
		return app.ReadObject()
	}
	assigned, err := app.Assignments(c.Inputs)
	if err != nil {
		return nil, err
	}
	inputs := map[string]string{}
	for _, a := range assigned {
		if inputs[a.Key] = a.Text; a.JSON != nil {
			return nil, fault.New(fault.Usage, "Inputs of a shared workflow are text: %s:= gives a JSON value", a.Key).Suggest("Write %s=VALUE", a.Key)
		}
	}
	return rawjson.Marshal(map[string]any{"token": c.Token, "inputs": inputs})
}

type admitCommand struct {
	Token string `arg:"" optional:"" help:"The token, or - for standard input."`
	Undo  int64  `help:"Take back an admission whose run could not be created." placeholder:"ID"`
}

// Help returns more text for --help.
func (admitCommand) Help() string {
	return `Without --undo, it counts a run: at most 10 in any 60 seconds of one token, and 100 a day (UTC) of one workflow. Use run to admit and start
a run at once; with admit the program that starts the run takes the admission back if it could not be created.`
}

// admitted is the document of an admission.
type admitted struct {
	Admission      int64  `json:"admission"`
	Workflow       string `json:"workflow"`
	QuotaRemaining int    `json:"quota_remaining"`
}

// Run counts a run, or takes that back.
func (c *admitCommand) Run(app *cli.App) error {
	if (c.Undo == 0) == (c.Token == "") {
		return fault.New(fault.Usage, "admit needs either a token or --undo ID")
	}
	token, err := text(app, c.Token)
	if err != nil {
		return err
	}
	service, stop, err := open(app, false)
	if err != nil {
		return share.Unavailable(err)
	}
	defer stop()
	if c.Undo != 0 {
		if service.Store == nil {
			return fault.New(fault.NotFound, "There is no admission %d", c.Undo)
		}
		if err := service.Store.Undo(app.Context, c.Undo); err != nil {
			return err
		}
		return app.Document(map[string]int64{"undone": c.Undo}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "undone %d\n", c.Undo) })
	}
	a, err := service.Admit(app.Context, token)
	if err != nil {
		return err
	}
	doc := admitted{a.ID, a.Share.Workflow, a.Remaining}
	return app.Document(doc, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "admission %d of %s, %d runs left today\n", doc.Admission, doc.Workflow, doc.QuotaRemaining)
	})
}

// text returns an argument, or a line of standard input for -.
func text(app *cli.App, argument string) (string, error) {
	if argument != "-" {
		return argument, nil
	}
	raw, err := app.ReadArgument("-", 1<<10)
	return strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r"), err
}
