package suitetools

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// execute runs a workflow: started apart from this process, its events followed for progress, its end answered. The run
// outlives this server and the caller; only an explicit cancel of the call stops it.
func (f *Front) execute(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
	a, refused := decode(call)
	if refused != nil {
		return refused
	}
	start := command{program: "pflow-exec", whole: true, args: []string{"start", "--format", "json", "--name"}}
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
		return failure(fault.New(fault.Protocol, "pflow-exec start gave no run id"))
	}
	_, err := f.Suite.run(ctx, command{program: "pflow-exec", args: []string{"--quiet", "events", "--follow", "--", run}, long: true, each: progress(call)})
	if err != nil {
		return f.stopped(ctx, run)
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

// progress tells the client how many of the workflow's own nodes are settled.
func progress(call *mcpserver.Call) func(line []byte) {
	done, total := 0.0, 0.0
	return func(line []byte) {
		fields := gjson.GetManyBytes(line, "event", "node", "nodes.#", "item", "will_retry")
		if strings.Contains(fields[1].Str, "/") || fields[3].Exists() || fields[4].Bool() {
			return // inside a sub-workflow or a batch, or not its end
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

// stopped answers a call whose context ended. A call that was cancelled cancels its run; when the client or this
// server goes away the run goes on.
func (f *Front) stopped(ctx context.Context, run string) *mcpserver.Result {
	if f.Serving.Err() == nil && errors.Is(context.Cause(ctx), context.Canceled) {
		ctx = context.WithoutCancel(ctx)
		if r := f.answer(ctx, command{program: "pflow-exec", args: []string{"cancel", "--format", "json", "--", run}}); r.IsError {
			return r
		}
		return f.answer(ctx, command{program: "pflow-exec", args: []string{"wait", "--format", "json", "--", run}})
	}
	return failure(fault.New(fault.Unavailable, "The server is stopping; run %s goes on", run).
		Suggest("Call execute with resume %q to have its result", run).Detail("run_id", run))
}

// links are the resources that stand in the place of long texts.
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
