package suitetools

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// Flows is the toolset of workflows that are shared by a link. Its tools carry their own credential, the token of the link.
const Flows = "flows"

const flowsInstructions = `Shared flows: get_flow_info, then run_flow.`

// flows returns the tools for workflows that are shared by a link. pflow-share checks their arguments, with the texts that clients know.
func flows(f *Front) []mcpserver.Tool {
	const token = `"token":{"type":"string","description":"12-character share token for the flow"}`
	const state = `"job_id":{"type":"string"},"status":{"type":"string","description":"started, pending, running, completed or failed"},"message":{"type":"string"},`
	const ended = `"outputs":{"type":"object","description":"by name: {type, value}, or {type: resource_link, uri, name, mimeType, size_bytes}"},"errors":{"type":"object","description":"messages by node"},`
	return []mcpserver.Tool{{
		Name: "get_flow_info", Title: "Describe a shared flow",
		Description: "Get metadata about a shared flow: its name, description, inputs and outputs. Use it to learn what inputs a flow expects before running it.",
		InputSchema: schema(`{"type":"object","properties":{` + token + `},"required":["token"],"additionalProperties":false}`),
		OutputSchema: outputSchema(`"name":{"type":"string"},"description":{"type":["string","null"]},"ownerFunded":{"type":"boolean","description":"whether it can be run"},` +
			`"inputs":{"type":"array","items":{"type":"object"}},"outputs":{"type":"array","items":{"type":"object"}}`),
		ReadOnly: true, Idempotent: true, SkipValidation: true,
		Call: func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
			return f.answer(ctx, shared(call, "show", "-"))
		},
	}, {
		Name: "run_flow", Title: "Run a shared flow",
		Description: "STEP 1 of 2: Start a shared flow. Returns a job_id at once, not the result. After run_flow, call get_run_status with the job_id until the " +
			"status is completed or failed; a flow takes seconds to minutes. A client that reads a stream of events receives the progress and the result in it.",
		InputSchema: schema(`{"type":"object","properties":{` + token + `,"inputs":{"type":"object","additionalProperties":{"type":"string"},` +
			`"description":"texts by the labels of the inputs; get_flow_info lists them"}},"required":["token"],"additionalProperties":false}`),
		OutputSchema: outputSchema(state + ended + `"next_action":{"type":"string"},"quota_remaining":{"type":"integer","description":"how many more runs are admitted today"},"duration_ms":{"type":"number"}`),
		Destructive:  true, OpenWorld: true, SkipValidation: true,
		Call: func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result { return runFlow(ctx, f, call) },
	}, {
		Name: "get_run_status", Title: "Get the status of a job",
		Description: "STEP 2 of 2: Get the status and the outputs of a job that run_flow has started. If the status is pending or running, wait 3 seconds and call " +
			"get_run_status again, until it is completed or failed. Long texts and media are links.",
		InputSchema: schema(`{"type":"object","properties":{"job_id":{"type":"string","description":"the job_id that run_flow has returned"},` +
			`"token":{"type":"string","description":"the flow's token: the job is shown only if it is of that flow"}},"required":["job_id"],"additionalProperties":false}`),
		OutputSchema: outputSchema(state + ended + `"created_at":{"type":"string"},"started_at":{"type":"string"},"completed_at":{"type":"string"}`),
		ReadOnly:     true, Idempotent: true, SkipValidation: true,
		Call: func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
			r := f.answer(ctx, shared(call, "job", "-", "--base-url="+base(f)))
			if !r.IsError {
				r.Structured = only(r.Structured, "job_id", "status", "message", "created_at", "started_at", "completed_at", "outputs", "errors")
				r.Links = outputLinks(r.Structured)
			}
			return r
		},
	}}
}

// shared is a command of pflow-share that reads the arguments of a call.
func shared(call *mcpserver.Call, args ...string) command {
	arguments := call.Arguments
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = json.RawMessage("{}")
	}
	return command{program: "pflow-share", args: append(args[:1:1], append([]string{"--format=json"}, args[1:]...)...), stdin: arguments}
}

// base returns the URL that begins the links to outputs.
func base(f *Front) string {
	if f.Base == "" {
		return "http://localhost:3000"
	}
	return f.Base
}

// only returns an object with the given members of another, in their order.
func only(object json.RawMessage, names ...string) json.RawMessage {
	var out bytes.Buffer
	for _, name := range names {
		if value := gjson.GetBytes(object, name); value.Exists() {
			separator := ","
			if out.Len() == 0 {
				separator = "{"
			}
			out.WriteString(separator + `"` + name + `":` + value.Raw)
		}
	}
	if out.Len() == 0 {
		return json.RawMessage("{}")
	}
	return append(out.Bytes(), '}')
}

// outputLinks returns the links among the outputs of a job.
func outputLinks(job json.RawMessage) (links []mcpserver.Link) {
	gjson.GetBytes(job, "outputs").ForEach(func(_, o gjson.Result) bool {
		if o.Get("type").Str == "resource_link" {
			links = append(links, mcpserver.Link{URI: o.Get("uri").Str, Name: o.Get("name").Str, MIMEType: o.Get("mimeType").Str, Size: o.Get("size_bytes").Int()})
		}
		return len(links) < maxLinks
	})
	return links
}

// runFlow answers a call of run_flow: at once with the job, or on a stream at the end of the run. What becomes of the client does not
// touch the run: other callers could look like it.
func runFlow(ctx context.Context, f *Front, call *mcpserver.Call) *mcpserver.Result {
	start := shared(call, "run", "-")
	start.uninterrupted = true
	if call.Stream == nil || f.Runs == nil {
		r := f.answer(ctx, start)
		if !r.IsError {
			r.Structured = only(r.Structured, "job_id", "status", "message", "next_action", "quota_remaining")
		}
		return r
	}
	expected := f.Runs.expect()
	defer expected.end()
	r := f.answer(ctx, start)
	started := gjson.GetManyBytes(r.Structured, "job_id", "run_id")
	job, run := started[0].Str, started[1].Str
	if r.IsError || job == "" || run == "" {
		return r
	}
	shown := &flowProgress{stream: call.Stream, job: job}
	shown.begin()
	f.Runs.follow(ctx, expected, run, shown.apply)
	if ctx.Err() != nil {
		return &mcpserver.Result{Structured: only(r.Structured, "job_id", "status", "message", "next_action", "quota_remaining")}
	}
	r = f.answer(ctx, command{program: "pflow-share", args: []string{"job", "--format=json", "--base-url=" + base(f), "--", job}})
	if !r.IsError {
		r.IsError = gjson.GetBytes(r.Structured, "status").Str == "failed"
		r.Structured = only(r.Structured, "job_id", "status", "outputs", "errors", "duration_ms")
		r.Links = outputLinks(r.Structured)
	}
	return r
}

// onlyFlows reports whether the front serves shared flows and nothing else.
func onlyFlows(f *Front) bool { return slices.Equal(f.Toolsets, []string{Flows}) }

// resourcesOf returns the resources of the chosen toolsets: for shared flows the outputs of jobs, which are named by the job's id.
func resourcesOf(f *Front) []resource {
	var rows []resource
	r := f.reader()
	if !onlyFlows(f) {
		rows = r.resources()
	}
	if f.serves(Flows) {
		rows = append(rows, resource{
			uri: base(f) + OutputPath + "{job}/{key}", name: "flow-output", title: "An output of a job", path: true,
			description: "The bytes of an output. The results of run_flow and get_run_status link to it.",
			read: func(ctx context.Context, values []string) (*mcpserver.Content, error) {
				o, err := f.Suite.Output(ctx, values[0], values[1])
				if err != nil {
					return nil, err
				}
				return o.content(), nil
			},
		})
	}
	return rows
}

// OutputPath begins the paths of outputs: it is followed by JOB/KEY.
const OutputPath = "/api/mcp/outputs/"

// lost is the fault for an answer of pflow-share that cannot be read.
func lost(what string) *fault.Fault {
	return fault.New(fault.Protocol, "pflow-share %s printed something else than an answer", what)
}
