package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/run/runflags"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

type startCommand struct {
	Workflow string   `arg:"" help:"A path, the name of a saved workflow or a draft, or - for standard input."`
	Values   []string `arg:"" optional:"" name:"key=value" help:"Inputs: KEY=VALUE is text, KEY:=JSON a JSON value, KEY=@FILE a file's text."`
	Name     bool     `help:"WORKFLOW is a name, never a path."`
	Inputs   string   `help:"Read inputs from a file that holds one JSON object, or - for standard input." placeholder:"FILE"`
	runflags.Flags
	Dir     string `help:"Run in this folder, which the workers must have; by default the current one." short:"C" placeholder:"DIR" complete:"dir"`
	EnvFile string `help:"Add a file of KEY=VALUE lines to the environment of the run, where they replace variables of the same name. It needs --codec-key-file." placeholder:"FILE"`
	runflags.Answers
	queueFlag
	clusterFlags
}

// Help returns the longer text of --help.
func (startCommand) Help() string {
	return `The workflow crosses the cluster with the files that it refers to, and with the inputs. Workflows, settings and programs that its nodes
name are those of the worker, files those of the folder. The run goes on until its end, also if workers are lost. A time limit and the number
of nodes at the same time count on each worker, the budget for the whole run.`
}

type started struct {
	RunID string `json:"run_id"`
}

// Run starts a run and prints its id.
func (c *startCommand) Run(app *cli.App) error { return c.start(app, "") }

// start starts a run, which goes on from another one unless from is empty.
func (c *startCommand) start(app *cli.App, from string) error {
	if err := c.check(); err != nil {
		return err
	}
	job, err := c.job(app)
	if err != nil {
		return err
	}
	name, content, err := c.content(app, &job)
	if err != nil {
		return err
	}
	to, err := c.connect(app.Context, app)
	if err != nil {
		return err
	}
	defer to.Close()
	var id string
	if from == "" {
		id, err = to.Start(app.Context, c.Queue, name, job, content)
	} else {
		id, err = c.goOn(app, to, from, name, job, content)
	}
	if err != nil {
		return err
	}
	return app.Document(started{id}, func(w io.Writer) { _, _ = fmt.Fprintln(w, id) })
}

// goOn starts a run that goes on from another one.
func (c *startCommand) goOn(app *cli.App, to *cluster.Cluster, from, name string, job cluster.Job, content cluster.Content) (string, error) {
	s, err := to.State(app.Context, from)
	if err != nil {
		return "", err
	}
	if s.Live() {
		return "", fault.New(fault.Conflict, "Run %s has not ended", from).Then(fault.Step{Do: fault.DoWait, Run: from}, fault.Step{Do: fault.DoCancel, Run: from})
	}
	return to.Resume(app.Context, s, c.Queue, name, job, content)
}

// resumeCommand is start for a run that goes on from another one.
type resumeCommand struct {
	RunID string `arg:"" name:"run" help:"The id of the run to go on from, which has ended or waits for a person."`
	startCommand
}

// Help returns the longer text of --help.
func (resumeCommand) Help() string {
	return `WORKFLOW is sent as it is now. What has not changed since the run and has finished there is not executed again. The new run has an id of its own.`
}

// Run starts a run that goes on from another one, and prints its id.
func (c *resumeCommand) Run(app *cli.App) error { return c.start(app, c.RunID) }

// job returns the run without its content.
func (c *startCommand) job(app *cli.App) (job cluster.Job, err error) {
	if job.Dir, err = filepath.Abs(c.Dir); err != nil {
		return job, fault.From(err)
	}
	how, err := c.Flags.Arguments()
	if err != nil {
		return job, err
	}
	c.ByPerson = c.ByPerson || app.AtTerminal()
	answers, err := c.Answers.Arguments()
	job.Flags = append(how, answers...)
	return job, err
}

// content reads the workflow and the inputs.
func (c *startCommand) content(app *cli.App, job *cluster.Job) (name string, content cluster.Content, err error) {
	h, err := app.Home()
	if err != nil {
		return "", content, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", content, fault.From(err)
	}
	file, entry, err := library.Open(h).Open(c.Workflow, c.Name, dir, app.ReadArgument)
	if err != nil {
		return "", content, err
	}
	if name = file.Name; entry != nil {
		name = entry.Name
	}
	for _, n := range file.Workflow.Nodes {
		job.Nodes = append(job.Nodes, n.ID)
	}
	content = cluster.Content{Workflow: file.JSON()}
	if err := c.given(app, &content); err != nil || c.CodecKeyFile != "" {
		return name, content, err
	}
	if c.EnvFile != "" {
		return "", content, cluster.SecretFault("The environment file may have a secret")
	}
	known, err := settings.Load(h)
	if err != nil {
		return "", content, err
	}
	return name, content, checkContent(file, content, job.Flags, known.Env)
}

// given reads the inputs and the environment file.
func (c *startCommand) given(app *cli.App, content *cluster.Content) error {
	content.Values, content.Texts = map[string][]byte{}, map[string]string{}
	if c.Inputs != "" {
		raw, err := app.ReadArgument(c.Inputs, input.MaxDocument)
		if err != nil {
			return err
		}
		var values map[string]json.RawMessage
		if err := json.Unmarshal(raw, &values); err != nil || values == nil {
			return fault.New(fault.Usage, "--inputs %s does not hold a JSON object", c.Inputs).Suggest(`Write it as {"name": value, …}`)
		}
		if err := input.CheckKeys("--inputs "+c.Inputs, raw); err != nil {
			return err
		}
		for name, value := range values {
			content.Values[name] = value
		}
	}
	assigned, err := app.Assignments(c.Values)
	if err != nil {
		return err
	}
	for _, a := range assigned {
		if delete(content.Values, a.Key); a.JSON != nil {
			content.Values[a.Key] = a.JSON
		} else {
			content.Texts[a.Key] = a.Text
		}
	}
	if c.EnvFile != "" {
		content.EnvFile, err = app.ReadArgument(c.EnvFile, input.MaxDocument)
	}
	return err
}

// checkContent returns a fault if a workflow, its inputs or the flags have a secret.
func checkContent(file *workflow.File, content cluster.Content, flags []string, known map[string]string) error {
	given := map[string]json.RawMessage{}
	for name, value := range content.Values {
		given[name] = value
	}
	for name, text := range content.Texts {
		raw, err := rawjson.Marshal(text)
		if err != nil {
			return fault.From(err)
		}
		given[name] = raw
	}
	for name := range given {
		if in, ok := file.Workflow.Inputs[name]; ok && in.Secret || redact.SecretName(name) {
			return cluster.SecretFault("The input " + name + " is a secret")
		}
	}
	raw, err := rawjson.Marshal(given)
	if err != nil {
		return fault.From(err)
	}
	how, err := rawjson.Marshal(flags)
	if err != nil {
		return fault.From(err)
	}
	for _, document := range [][]byte{raw, how, content.Workflow} {
		if err := cluster.CheckSecrets(nil, document, known, nil); err != nil {
			return err
		}
	}
	return nil
}
