package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

type startCommand struct {
	Workflow  string   `arg:"" help:"A path, the name of a saved workflow or a draft, or - for standard input."`
	Values    []string `arg:"" optional:"" name:"key=value" help:"Inputs: KEY=VALUE is text, KEY:=JSON a JSON value, KEY=@FILE a file's text."`
	Name      bool     `help:"WORKFLOW is a name, never a path."`
	Jobs      int      `help:"Run at most N nodes at the same time; by default one for each processor of the worker." short:"j" placeholder:"N"`
	Timeout   string   `help:"Stop the run after this time on a worker: 30s, 5m, or seconds." placeholder:"DURATION"`
	KeepGoing bool     `help:"After a failure, go on with the nodes that do not depend on it." short:"k"`
	Dir       string   `help:"Run in this folder, which the workers must have; by default the current one." short:"C" placeholder:"DIR" complete:"dir"`
	queueFlag
	clusterFlags
}

// Help returns the longer text of --help.
func (startCommand) Help() string {
	return `The workflow crosses the cluster with the files that it refers to, and with the inputs. Workflows, settings and programs that its nodes
name are those of the worker, files those of the folder. The run goes on until its end, also if workers are lost.`
}

type started struct {
	RunID string `json:"run_id"`
}

// Run starts a run and prints its id.
func (c *startCommand) Run(app *cli.App) error {
	if err := c.check(); err != nil {
		return err
	}
	job, err := c.job()
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
	id, err := to.Start(app.Context, c.Queue, name, job, content)
	if err != nil {
		return err
	}
	return app.Document(started{id}, func(w io.Writer) { _, _ = fmt.Fprintln(w, id) })
}

// job returns the run without its content.
func (c *startCommand) job() (job cluster.Job, err error) {
	if job.Dir, err = filepath.Abs(c.Dir); err != nil {
		return job, fault.From(err)
	}
	if c.Jobs < 0 {
		return job, fault.New(fault.Usage, "--jobs must be at least 1, got %d", c.Jobs)
	}
	if c.Jobs > 0 {
		job.Flags = append(job.Flags, "--jobs", strconv.Itoa(c.Jobs))
	}
	limit, err := cli.Duration(c.Timeout)
	if err != nil {
		return job, err
	}
	if limit > 0 {
		job.Flags = append(job.Flags, "--timeout", limit.String())
	}
	if c.KeepGoing {
		job.Flags = append(job.Flags, "--keep-going")
	}
	return job, nil
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
	content = cluster.Content{Workflow: file.JSON(), Values: map[string][]byte{}, Texts: map[string]string{}}
	assigned, err := app.Assignments(c.Values)
	if err != nil {
		return "", content, err
	}
	for _, a := range assigned {
		if a.JSON != nil {
			content.Values[a.Key] = a.JSON
		} else {
			content.Texts[a.Key] = a.Text
		}
	}
	if c.CodecKeyFile != "" {
		return name, content, nil
	}
	known, err := settings.Load(h)
	if err != nil {
		return "", content, err
	}
	return name, content, checkContent(file, content, known.Env)
}

// checkContent returns a fault if a workflow or its inputs have a secret.
func checkContent(file *workflow.File, content cluster.Content, known map[string]string) error {
	given := map[string]json.RawMessage{}
	for name, value := range content.Values {
		given[name] = value
	}
	for name, text := range content.Texts {
		raw, err := json.Marshal(text)
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
	raw, err := json.Marshal(given)
	if err != nil {
		return fault.From(err)
	}
	for _, document := range [][]byte{raw, content.Workflow} {
		if err := cluster.CheckSecrets(nil, document, known, nil); err != nil {
			return err
		}
	}
	return nil
}
