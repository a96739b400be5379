package suitetools

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
	"github.com/pflow-suite/pflow/pkg/process"
)

// The most bytes of a resource: of a log, which then is its end, of a document about a node, which then leaves out long texts, and of
// any other, which then is an error.
const (
	maxLog      = 1 << 20
	maxDocument = 1 << 20
	maxContent  = 16 << 20
)

// maxEcho is the most bytes of a name in a URI that a fault repeats.
const maxEcho = 200

func (r reader) readGuide(ctx context.Context, _ []string) (*mcpserver.Content, error) {
	return r.print(ctx, "pflow-lib", "guide")
}

func (r reader) readSchema(ctx context.Context, _ []string) (*mcpserver.Content, error) {
	return r.print(ctx, "pflow-lib", "schema")
}

// readNodeType reads a node type. A workflow of the same name is not one.
func (r reader) readNodeType(ctx context.Context, values []string) (*mcpserver.Content, error) {
	c, err := r.print(ctx, "pflow-lib", "search", "--format", "json", "--no-workflows", "--type="+values[0])
	if err != nil {
		return nil, err
	}
	found := gjson.Get(c.Text, "nodes.0")
	if found.Get("type").Str != values[0] {
		f := fault.New(fault.NotFound, "There is no node type %q", values[0]).Then(fault.Step{Do: fault.DoSearch})
		f.Address(r.client)
		return nil, f
	}
	return &mcpserver.Content{Text: found.Raw}, nil
}

func (r reader) readWorkflow(ctx context.Context, values []string) (*mcpserver.Content, error) {
	c, err := r.print(ctx, "pflow-lib", "show", "--", values[0])
	if err != nil {
		return nil, err
	}
	c.MIMEType = "text/markdown"
	if isJSON(c.Text) {
		c.MIMEType = "application/json"
	}
	return c, nil
}

// isJSON reports whether the text of a workflow has the JSON form.
func isJSON(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, "\ufeff \t\r\n"), "{")
}

func (r reader) readRun(ctx context.Context, values []string) (*mcpserver.Content, error) {
	return r.print(ctx, "pflow-exec", "status", "--format", "json", "--", values[0])
}

// readOutput reads an output of a run that has ended. It does not wait for the end of a run.
func (r reader) readOutput(ctx context.Context, values []string) (*mcpserver.Content, error) {
	run, key := values[0], values[1]
	c, err := r.print(ctx, "pflow-exec", "wait", "--format", "json", "--timeout=1ms", "--print="+key, "--", run)
	if err == nil {
		c.Text = strings.TrimSuffix(c.Text, "\n") // which the command adds
		return c, nil
	}
	switch fault.From(err).Type {
	case fault.Timeout:
		f := fault.New(fault.NotFound, "Run %s has not ended, so it has no outputs yet", run).Suggest("Read %sruns/%s to see how far it is", scheme, run).
			Then(fault.Step{Do: fault.DoWait, Run: run})
		f.Address(r.client)
		return nil, f
	case fault.NotFound, fault.Security:
		return nil, err
	}
	return nil, r.withoutOutput(ctx, run, key, err) // for a run without success the command prints nothing, or the answer of run
}

// withoutOutput returns why a run that did not succeed has no output. If the run succeeded, or its status cannot be read, the error
// of the read is the reason.
func (r reader) withoutOutput(ctx context.Context, run, key string, failed error) error {
	c, err := r.readRun(ctx, []string{run})
	if err != nil {
		return failed
	}
	status := gjson.GetMany(c.Text, "run_id", "status", "error.message")
	run, state := status[0].Str, status[1].Str
	switch state {
	case "", "completed", "degraded", "running", "queued":
		return failed
	}
	f := fault.New(fault.NotFound, "Run %s has no output %q: its status is %s", run, fault.Truncate(key, maxEcho), state)
	if why := status[2].Str; why != "" {
		f.Message += ". " + fault.Truncate(why, 300)
	}
	f.Detail("status", state).Suggest("Read %sruns/%s for the state of the run, and %sruns/%s/nodes/NODE for the outputs of a node that has ended", scheme, run, scheme, run)
	if state == "paused" {
		f.Then(fault.Step{Do: fault.DoAnswer, Run: run, Node: "NODE", AnyAnswer: true})
	}
	f.Address(r.client)
	return f
}

// readNode reads what is known about a node: everything, or all but long texts if that is too much.
func (r reader) readNode(ctx context.Context, values []string) (*mcpserver.Content, error) {
	show := func(limit string) (*mcpserver.Content, error) {
		return r.printUpTo(ctx, maxDocument, "pflow-exec", "show", "--format", "json", "--max-output-chars="+limit, "--", values[0], values[1])
	}
	c, err := show("0")
	if fault.From(err) != nil && fault.From(err).Type == fault.TooLarge {
		c, err = show("2000")
	}
	return c, err
}

// readLogs reads the log of a run or of one of its nodes.
func (r reader) readLogs(ctx context.Context, values []string) (*mcpserver.Content, error) {
	tail := process.NewTail(maxLog)
	logs := suite.Command{Program: "pflow-exec", Args: append([]string{"--quiet", "logs", "--format", "text", "--"}, values...), Stdout: tail}
	o, err := r.suite.Run(ctx, logs)
	if err != nil {
		return nil, err
	}
	if o.Exit != 0 { // as text the fault would be one of words only
		return r.print(ctx, "pflow-exec", append([]string{"logs", "--format", "json", "--"}, values...)...)
	}
	text := tail.String()
	if tail.Cut() {
		text = fmt.Sprintf("(the end of a longer log, at most %d bytes)\n%s", maxLog, text)
	}
	return &mcpserver.Content{Text: text}, nil
}

// print returns the output of a command as the content of a resource, byte for byte.
func (r reader) print(ctx context.Context, program string, args ...string) (*mcpserver.Content, error) {
	return r.printUpTo(ctx, maxContent, program, args...)
}

// printUpTo returns the output of a command that prints at most a number of bytes, or else a too_large.
func (r reader) printUpTo(ctx context.Context, most int, program string, args ...string) (*mcpserver.Content, error) {
	out := &suite.Head{Most: most}
	o, err := r.suite.Run(ctx, suite.Command{Program: program, Reader: r.client, Args: append([]string{"--quiet"}, args...), Stdout: out})
	switch {
	case err != nil:
		return nil, err
	case o.Exit != 0:
		return nil, suite.Missing(out.Kept.Bytes(), program, o)
	case out.Size > most:
		return nil, fault.New(fault.TooLarge, "The resource has %d bytes, more than the limit of %d", out.Size, most)
	}
	return &mcpserver.Content{Text: strings.ToValidUTF8(out.Kept.String(), "\uFFFD")}, nil
}
