package suitetools

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// execute is the tool execute.
func (f *Front) execute() mcpserver.Tool {
	return mcpserver.Tool{
		Name: "execute", Title: "Run a workflow",
		Description: "Run a workflow by name: the saved one, or else the draft. Returns its outputs. After a failure the error names the node " +
			"that failed and what to do. Then correct the draft and call execute again with resume set to checkpoint.run_id: finished nodes do not run again.",
		InputSchema: schema(`{"type":"object","properties":{` +
			`"name":{"type":"string","description":"the name of a saved workflow or a draft"},` +
			`"inputs":{"type":"object","description":"values for the workflow's inputs, by name"},` +
			`"resume":{"type":"string","pattern":"^(last|r[0-9a-z]*)$","description":"the run_id of an earlier run to go on from, or \"last\""},` +
			`"max_output_chars":{"type":"integer","minimum":0,"default":2000,"description":"longer texts are replaced by a link to read them; 0 keeps all texts"}},"required":["name"],"additionalProperties":false}`),
		OutputSchema: outputSchema(`"success":{"type":"boolean"},"run_id":{"type":"string"},"status":{"type":"string"},` +
			`"outputs":{"type":"object","description":"the workflow's outputs by name"},"checkpoint":{"type":["object","null"],"description":"what is done, after a failure",` +
			`"properties":{"completed_nodes":{"type":"array","items":{"type":"string"}},"failed_node":{"type":"string"},"run_id":{"type":"string"}}},"warnings":{"type":"array"}`),
		Destructive: true, OpenWorld: true, Meta: alwaysLoad(),
		Call: f.callExecute,
	}
}

type executeArguments struct {
	Name           string          `json:"name"`
	Inputs         json.RawMessage `json:"inputs"`
	Resume         string          `json:"resume"`
	MaxOutputChars *int            `json:"max_output_chars"`
}

// callExecute runs a workflow. It starts the run apart from this process, follows its events for progress, and answers with
// its end. The run outlives the server and the caller: only a client that cancels the call ends it.
func (f *Front) callExecute(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
	a, refused := decode[executeArguments](call)
	if refused != nil {
		return refused
	}
	start := command{program: "pflow-exec", uninterrupted: true, args: []string{"start", "--format", "json", "--name"}}
	if a.Resume != "" {
		start.args = append(start.args, "--resume="+a.Resume)
	}
	if len(a.Inputs) > 0 && string(a.Inputs) != "null" {
		start.args, start.stdin = append(start.args, "--inputs=-"), a.Inputs
	}
	start.args = append(start.args, "--", a.Name)
	started := f.answer(ctx, start)
	if started.IsError {
		return started
	}
	run := gjson.GetBytes(started.Structured, "run_id").Str
	if run == "" {
		return failure(fault.New(fault.Protocol, "pflow-exec start printed no run_id"))
	}
	_, err := f.Suite.run(ctx, command{program: "pflow-exec", args: []string{"--quiet", "events", "--follow", "--", run}, long: true, onLine: progress(call)})
	if err != nil && ctx.Err() != nil {
		return f.stopped(ctx, run)
	}
	if err != nil {
		return failure(fault.New(fault.Unavailable, "Run %s goes on, but cannot be followed: %v", run, err).Detail("run_id", run))
	}
	limit := 2000
	if a.MaxOutputChars != nil {
		limit = *a.MaxOutputChars
	}
	r := f.answer(ctx, command{program: "pflow-exec", args: []string{"wait", "--format", "json", "--max-output-chars", strconv.Itoa(limit), "--", run}})
	if !r.IsError {
		r.Links = links(r.Structured)
	}
	return r
}

// progress returns a function that reads the events of a run, and reports to the client how many of the workflow's own
// nodes have ended.
func progress(call *mcpserver.Call) func(line []byte) {
	done, total := 0.0, 0.0
	return func(line []byte) {
		fields := gjson.GetManyBytes(line, "event", "node", "nodes.#", "item", "will_retry")
		if strings.Contains(fields[1].Str, "/") || fields[3].Exists() || fields[4].Bool() {
			return // inside a sub-workflow or a batch, or an attempt that is repeated
		}
		switch fields[0].Str {
		case "run_started":
			total = fields[2].Num
		case "node_completed", "node_reused", "node_failed", "node_skipped", "node_cancelled":
			done++
			call.Progress(done, total, fields[0].Str+" "+fields[1].Str)
		}
	}
}

// stopped answers a call whose context ended. If the client cancelled the call, that cancels the run. If the client went
// away or the server stops, the run goes on.
func (f *Front) stopped(ctx context.Context, run string) *mcpserver.Result {
	why := "The client went away"
	switch mcpserver.WhyEnded(ctx) {
	case mcpserver.Cancelled:
		ctx = context.WithoutCancel(ctx)
		if r := f.answer(ctx, command{program: "pflow-exec", args: []string{"cancel", "--format", "json", "--", run}}); r.IsError {
			return r
		}
		return f.answer(ctx, command{program: "pflow-exec", args: []string{"wait", "--format", "json", "--", run}})
	case mcpserver.Stopping:
		why = "The server is stopping"
	}
	return failure(fault.New(fault.Unavailable, "%s; run %s goes on", why, run).
		Suggest("Call execute with resume %q to get its result", run).Detail("run_id", run))
}

// links returns the resources that replace the long texts of a result.
func links(document json.RawMessage) []mcpserver.Link {
	var found []mcpserver.Link
	var visit func(v gjson.Result)
	visit = func(v gjson.Result) {
		if uri := v.Get("uri"); v.IsObject() && v.Get("$blob").Exists() && uri.Str != "" {
			found = append(found, mcpserver.Link{URI: uri.Str, Name: v.Get("output").Str, MIMEType: v.Get("mime").Str, Size: v.Get("bytes").Int()})
			return
		}
		if v.IsObject() || v.IsArray() {
			v.ForEach(func(_, item gjson.Result) bool { visit(item); return true })
		}
	}
	visit(gjson.GetBytes(document, "outputs"))
	return found
}
