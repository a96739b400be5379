package flow

import (
	"context"
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// Streamed is the tool whose streams a client can go on with.
const Streamed = "run_flow"

// run answers a call of run_flow: at once with the job, or on a stream at the end of the run. What becomes of the client does not
// touch the run: other callers could look like it.
func (f *Flows) run(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
	start := shared(call, "run", "--requests")
	start.Kept, start.Uninterrupted = true, true
	if call.Stream == nil || f.Feed == nil {
		r := f.Answer(ctx, start)
		if !r.IsError {
			r.Structured = withoutEnd(r.Structured)
		}
		return r
	}
	if call.Stream.After != "" {
		return f.resume(ctx, call)
	}
	expected := f.Feed.Expect()
	defer expected.End()
	r := f.Answer(ctx, start)
	started := gjson.GetManyBytes(r.Structured, "job_id", "run_id")
	job, run := started[0].Str, started[1].Str
	if r.IsError || job == "" || run == "" {
		return r
	}
	shown := &progress{stream: call.Stream, job: job, run: run}
	shown.begin()
	following, stop := context.WithTimeout(ctx, streamTime)
	defer stop()
	f.Feed.Follow(following, expected, run, shown.apply)
	if ctx.Err() != nil {
		return &mcpserver.Result{Structured: withoutEnd(r.Structured)}
	}
	return f.end(f.job(ctx, job))
}

// resume answers a call whose client has lost the stream: with what has come after the last event that the client has.
func (f *Flows) resume(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
	after, ok := parsePlace(call.Stream.After)
	if !ok || suite.CheckNUL("the id of the last event", "job", after.job) != nil {
		return suite.Failure(fault.New(fault.Validation, "The id of the last event is not that of a stream of a flow").
			Suggest("Call get_run_status with the job_id"))
	}
	expected := f.Feed.Expect()
	defer expected.End()
	r := f.job(ctx, after.job)
	found := gjson.GetManyBytes(r.Structured, "run_id", "status")
	run, live := found[0].Str, found[1].Str == "running" || found[1].Str == "pending"
	if r.IsError || run == "" {
		return f.end(r)
	}
	shown := &progress{stream: call.Stream, job: after.job, after: after}
	following, stop := context.WithTimeout(ctx, streamTime)
	defer stop()
	f.Feed.Rejoin(following, expected, run, live, shown.apply)
	switch {
	case ctx.Err() != nil:
		return &mcpserver.Result{Structured: withoutEnd(r.Structured)}
	case live:
		r = f.job(ctx, after.job)
	}
	return f.end(r)
}

// job asks for the state of a job.
func (f *Flows) job(ctx context.Context, id string) *mcpserver.Result {
	return f.Answer(ctx, suite.Command{Program: "pflow-share", Args: []string{"job", "--format=json", "--base-url=" + f.base(), "--", id}})
}

// end returns the state of a job as the end of a stream.
func (f *Flows) end(r *mcpserver.Result) *mcpserver.Result {
	if r.IsError {
		return r
	}
	r.IsError = gjson.GetBytes(r.Structured, "status").Str == "failed"
	r.Structured = only(r.Structured, "job_id", "status", "outputs", "errors", "duration_ms")
	r.Links = outputLinks(r.Structured)
	return r
}

// withoutEnd returns what a job has before its end.
func withoutEnd(job json.RawMessage) json.RawMessage {
	return only(job, "job_id", "status", "message", "next_action", "quota_remaining")
}
