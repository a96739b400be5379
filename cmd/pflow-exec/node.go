package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

type nodeCommand struct {
	Type    string   `arg:"" optional:"" help:"A node type, such as http; pflow-lib search lists them." complete:"type"`
	Values  []string `arg:"" optional:"" name:"key=value" help:"Parameters: KEY=VALUE is text, KEY:=JSON a JSON value, KEY=@FILE a file's text; or - for one JSON object on standard input." complete:"parameter"`
	Print   string   `help:"If the node succeeds, print only this output, as text: stdout, or response.items[0].name." placeholder:"OUTPUT"`
	Raw     bool     `help:"On a terminal, print the control characters of outputs too. They can change what the terminal shows."`
	Timeout string   `help:"Stop the node after this time: 30s, 5m, or seconds." placeholder:"DURATION"`
	Dir     string   `help:"Run in this folder." short:"C" placeholder:"DIR" complete:"dir"`
	EnvFile string   `help:"Add a file of KEY=VALUE lines to the environment, where they replace variables of the same name." placeholder:"FILE"`
}

// Help returns the longer text of --help.
func (nodeCommand) Help() string {
	return `Runs one node, as a workflow of that node alone would, and prints its outputs as one JSON object. On a terminal it prints the
template that leads to each value, with its type and a sample. pflow-lib describe TYPE lists the parameters.

  pflow-exec node http url=https://example.com/items.json
  pflow-exec node jq filter='.[].name' input:='[{"name": "a"}]' --print result

Without TYPE it runs the attempt of a run that has a runner: it reads a request on standard input, and prints what the run needs
to know of the node.

Exit status: as for run.`
}

// Run runs a node in this process.
func (c *nodeCommand) Run(app *cli.App) error {
	app.EndsWithin(runEndsWithin)
	if c.Type == "" {
		return serveAttempt(app)
	}
	flags := answerFlags{Raw: c.Raw}
	if c.Print != "" {
		flags.Print = runner.SingleNode + "." + c.Print
		if strings.HasPrefix(c.Print, "[") {
			flags.Print = runner.SingleNode + c.Print
		}
	}
	show := newPresenter(app, flags)
	show.stream, show.node, show.bare = app.Format() == "ndjson" && c.Print == "", runner.SingleNode, true
	show.progress = newProgressView(app, show.stream, c.Print != "")
	host, err := newHost(app)
	if err != nil {
		return refuse(app, err, show.stream)
	}
	r, err := c.load(app, host)
	if err != nil {
		return refuse(app, err, show.stream)
	}
	return runHere(app, host, r, show)
}

func (c *nodeCommand) load(app *cli.App, host *runner.Host) (*runner.Request, error) {
	o := runner.Options{Dir: c.Dir, EnvFile: c.EnvFile, Jobs: 1}
	var err error
	if o.Timeout, err = cli.Duration(c.Timeout); err != nil {
		return nil, err
	}
	takers := 0
	for _, v := range append(slices.Clone(c.Values), c.EnvFile) {
		if v == "-" || strings.HasSuffix(v, "=@-") {
			takers++
		}
	}
	if takers > 1 {
		return nil, fault.New(fault.Usage, "Only one of -, --env-file and KEY=@- can read standard input, got %d", takers)
	}
	host.Stdin = nil
	params, err := c.params(app)
	if err != nil {
		return nil, err
	}
	return runner.LoadNode(host, c.Type, params, o)
}

// params returns the parameters as one JSON object. Text is converted to the type of its parameter when the node runs.
func (c *nodeCommand) params(app *cli.App) (json.RawMessage, error) {
	if slices.Contains(c.Values, "-") {
		if len(c.Values) > 1 {
			return nil, fault.New(fault.Usage, "- reads all parameters from standard input, so no others can be given")
		}
		return app.ReadObject()
	}
	assignments, err := app.Assignments(c.Values)
	if err != nil {
		return nil, err
	}
	params := make(map[string]json.RawMessage, len(assignments))
	for _, a := range assignments {
		if params[a.Key] = a.JSON; a.JSON == nil {
			params[a.Key] = rawjson.Quote(a.Text)
		}
	}
	raw, err := rawjson.Marshal(params)
	if err != nil {
		return nil, fault.From(err)
	}
	return raw, nil
}

// The most paths that are listed, and the most characters of a sample.
const (
	maxPaths  = 200
	maxSample = 60
)

// writePaths writes the templates that lead to the values of a node, with their types and samples.
func writePaths(w io.Writer, id string, outputs json.RawMessage, columns int) {
	var table cells.Table
	n := 0
	for ref, value := range template.Paths(id, outputs) {
		if n++; n > maxPaths {
			continue
		}
		table.Row(ref.String(), kindOf(value), sample(value))
	}
	_ = table.Write(w, columns)
	if n > maxPaths {
		_, _ = fmt.Fprintf(w, "… and %d more\n", n-maxPaths)
	}
}

// kindOf returns the type of a value, as a parameter of it is declared.
func kindOf(value json.RawMessage) string {
	switch rawjson.Kind(value) {
	case "text":
		return "string"
	case "a number":
		return "number"
	case "true or false":
		return "boolean"
	case "a list":
		var items []json.RawMessage
		_ = json.Unmarshal(value, &items)
		return fmt.Sprintf("array of %d", len(items))
	case "an object":
		return "object"
	}
	return "null"
}

// sample returns the beginning of a value on one line.
func sample(value json.RawMessage) string {
	text := []rune(string(rawjson.Compact(value)))
	if len(text) > maxSample {
		text = append(text[:maxSample-1], '…')
	}
	return cells.Clean(string(text))
}
