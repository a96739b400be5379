package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/share"
	"github.com/pflow-suite/pflow/pkg/share/output"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type jobCommand struct {
	Job     string  `arg:"" help:"The job's id, or - for the arguments of the tool get_run_status on standard input: {\"job_id\":TEXT,\"token\":TEXT}."`
	Token   *string `help:"Show the job only if it is of this token." placeholder:"TOKEN"`
	BaseURL string  `name:"base-url" env:"NEXT_PUBLIC_SITE_URL" help:"The address of the server, with which links to outputs begin." default:"http://localhost:3000" placeholder:"URL"`
}

// Run shows a job.
func (c *jobCommand) Run(app *cli.App) error {
	if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return fault.New(fault.Usage, "--base-url must be an address such as https://example.com, without a query")
	}
	raw, err := c.arguments(app)
	if err != nil {
		return err
	}
	id, token, err := share.ParseJob(raw)
	if err != nil {
		return err
	}
	service, stop, err := open(app, false)
	if err != nil {
		return err
	}
	defer stop()
	service.BaseURL = c.BaseURL
	result, err := service.Result(app.Context, id, token)
	if err != nil {
		return err
	}
	return app.Document(result, func(w io.Writer) { jobText(w, result) })
}

// arguments returns the arguments of get_run_status: those on standard input, or those of the command line as such.
func (c *jobCommand) arguments(app *cli.App) (json.RawMessage, error) {
	if c.Job != "-" {
		return rawjson.Marshal(map[string]any{"job_id": c.Job, "token": c.Token})
	}
	if c.Token != nil {
		return nil, fault.New(fault.Usage, "With - the token comes from standard input too, so --token cannot be given")
	}
	return app.ReadObject()
}

func jobText(w io.Writer, r share.Result) {
	_, _ = fmt.Fprintf(w, "%s  %s\n", r.JobID, r.Status)
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		switch o := r.Outputs[name].(type) {
		case output.Inline:
			_, _ = fmt.Fprintf(w, "%s: %s\n", name, o.Value)
		case output.Link:
			_, _ = fmt.Fprintf(w, "%s: %s, %d bytes: %s\n", name, o.MIMEType, o.SizeBytes, o.URI)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Errors)) {
		_, _ = fmt.Fprintf(w, "error: %s: %s\n", name, r.Errors[name])
	}
}

type outputCommand struct {
	Job    string  `arg:"" help:"The job's id, or - for {\"job_id\":TEXT,\"key\":TEXT} on standard input."`
	Key    *string `arg:"" optional:"" help:"The name of the output."`
	Header bool    `help:"Print a line of JSON first: its type, name, content type, size and SHA-256."`
}

// Help returns more text for --help.
func (outputCommand) Help() string {
	return `The bytes of the output are printed as they are: images and audio decoded, text without quotes.`
}

// Run prints the bytes of an output.
func (c *outputCommand) Run(app *cli.App) error {
	id, key, err := c.arguments(app)
	if err != nil {
		return err
	}
	service, stop, err := open(app, false)
	if err != nil {
		return err
	}
	defer stop()
	content, err := service.Output(app.Context, id, key)
	if err != nil {
		return err
	}
	if c.Header {
		if err := app.JSONLine(content); err != nil {
			return err
		}
	}
	_, err = io.Copy(app.Stdout, struct{ io.Reader }{bytes.NewReader(content.Bytes)}) // in parts
	return err
}

// arguments returns the job's id and the name of the output.
func (c *outputCommand) arguments(app *cli.App) (id, key string, err error) {
	if (c.Job == "-") == (c.Key != nil) {
		return "", "", fault.New(fault.Usage, "output needs a job and the name of an output, or - and both on standard input")
	}
	if c.Key != nil {
		return c.Job, *c.Key, nil
	}
	raw, err := app.ReadObject()
	if err != nil {
		return "", "", err
	}
	return share.ParseOutput(raw)
}
