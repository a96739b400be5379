package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/mattn/go-isatty"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type nodeCommand struct {
	queueFlag
	clusterFlags
}

// Help returns the longer text of --help.
func (nodeCommand) Help() string {
	return `Standard input and standard output are those of pflow-exec node, which a worker of the queue executes. Progress comes while the node
runs, what its processes print comes at its end. If the worker is lost, the command fails without outputs, and the run decides whether
the node is tried again. If the command is ended, so is the node.`
}

// errSenderGone is the cause of an attempt whose sender has closed its end of the pipe.
var errSenderGone = fault.New(fault.Execution, "The run that has sent the attempt is gone")

// Run sends the attempt on standard input to a worker, and prints what comes back.
func (c *nodeCommand) Run(app *cli.App) error {
	if err := c.check(); err != nil {
		return err
	}
	if isatty.IsTerminal(app.Stdin.Fd()) {
		return fault.New(fault.Usage, "Standard input is a terminal: the command reads the document of an attempt there").
			Then(fault.Command("Make it a runner", "pflow-lib settings set runners.cluster 'pflow-temporal node --queue %s'", c.Queue))
	}
	ctx, cancelRead := app.WhileRead()
	defer cancelRead()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	source := input.Reader(ctx, app.Stdin)
	decoder := json.NewDecoder(input.Limit(source, "The document on standard input", cluster.MaxDocument))
	var document json.RawMessage
	if err := decoder.Decode(&document); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if f, ok := errors.AsType[*fault.Fault](err); ok {
			return f
		}
		return fault.New(fault.Usage, "Standard input is not the document of an attempt: %v", err)
	}
	if !bytes.HasPrefix(document, []byte("{")) || gjson.GetBytes(document, "type").Str == "" {
		return fault.New(fault.Usage, "Standard input is not the document of an attempt: it has no type")
	}
	if gjson.GetBytes(document, "held").Bool() {
		go func() {
			_, _ = io.Copy(io.Discard, io.MultiReader(decoder.Buffered(), source))
			cancel(errSenderGone)
		}()
	}
	if err := c.checkSecrets(app, document); err != nil {
		return err
	}
	c.patient = true // a run should not fail because the cluster starts again
	to, err := c.connect(ctx, app)
	if err != nil {
		return err
	}
	defer to.Close()
	id := cluster.NewAttemptID()
	stop, err := guard(app, id)
	if err != nil {
		return err
	}
	defer stop()
	exit, err := to.Execute(ctx, c.Queue, id, document, app.Stdout)
	if err != nil {
		return err
	}
	if exit != 0 {
		return cli.Status(exit)
	}
	return nil
}

// checkSecrets returns a fault if the document has a secret and nothing encrypts it.
func (c *nodeCommand) checkSecrets(app *cli.App, document json.RawMessage) error {
	codec, err := c.codec(app)
	if err != nil {
		return err
	}
	if codec == nil && gjson.GetBytes(document, "secret").Bool() {
		return cluster.SecretFault("The document has a secret")
	}
	h, err := app.Home()
	if err != nil {
		return err
	}
	known, err := settings.Load(h)
	if err != nil {
		return err
	}
	var env []string
	gjson.GetBytes(document, "env").ForEach(func(name, value gjson.Result) bool {
		env = append(env, name.Str+"="+value.Str)
		return true
	})
	return cluster.CheckSecrets(codec, document, known.Env, process.Environment(env))
}
