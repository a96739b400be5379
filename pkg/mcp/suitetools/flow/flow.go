// Package flow has the tools of workflows that are shared by a link, and their outputs. pflow-share checks and counts the calls.
package flow

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/feed"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// Flows are the shared workflows of a suite.
type Flows struct {
	Suite *suite.Programs
	// Base is the URL under which clients reach the server, without a slash at its end; empty is DefaultBase.
	Base string
	// Feed brings the events of runs to streams; nil if the transport has none.
	Feed *feed.Feed
	// Answer runs a command and returns its document as the result of a tool.
	Answer func(context.Context, suite.Command) *mcpserver.Result
}

// DefaultBase begins the links to outputs if the address of the server is not known.
const DefaultBase = "http://localhost:3000"

const (
	// jobTime is how long a run of a flow may take, also while it is paused; streamTime is a little longer.
	jobTime    = 5 * time.Minute
	streamTime = jobTime + 10*time.Second
	// maxLinks is the most links of an answer.
	maxLinks = 10
)

// Tools returns the tools for workflows that are shared by a link. pflow-share checks their arguments, with the texts that clients know.
func (f *Flows) Tools() []mcpserver.Tool {
	const token = `"token":{"type":"string","description":"12-character share token for the flow"}`
	const state = `"job_id":{"type":"string"},"status":{"type":"string","description":"started, pending, running, completed or failed"},"message":{"type":"string"},`
	const ended = `"outputs":{"type":"object","description":"by name: {type, value}, or {type: resource_link, uri, name, mimeType, size_bytes}"},"errors":{"type":"object","description":"messages by node"},`
	return []mcpserver.Tool{{
		Name: "get_flow_info", Title: "Describe a shared flow",
		Description: "Get metadata about a shared flow: its name, description, inputs and outputs. Use it to learn what inputs a flow expects before running it.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + token + `},"required":["token"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"name":{"type":"string"},"description":{"type":["string","null"]},"ownerFunded":{"type":"boolean","description":"whether it can be run"},` +
			`"inputs":{"type":"array","items":{"type":"object"}},"outputs":{"type":"array","items":{"type":"object"}}`),
		ReadOnly: true, Idempotent: true, SkipValidation: true,
		Call: func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
			return f.Answer(ctx, shared(call, "show", "-"))
		},
	}, {
		Name: "run_flow", Title: "Run a shared flow",
		Description: "STEP 1 of 2: Start a shared flow. Returns a job_id at once, not the result. After run_flow, call get_run_status with the job_id until the " +
			"status is completed or failed; a flow takes seconds to minutes. A client that reads a stream of events receives the progress and the result in it.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + token + `,"inputs":{"type":"object","additionalProperties":{"type":"string"},` +
			`"description":"texts by the labels of the inputs; get_flow_info lists them"}},"required":["token"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(state + ended + `"next_action":{"type":"string"},"quota_remaining":{"type":"integer","description":"how many more runs are admitted today"},"duration_ms":{"type":"number"}`),
		Destructive:  true, OpenWorld: true, SkipValidation: true,
		Call: func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result { return f.run(ctx, call) },
	}, {
		Name: "get_run_status", Title: "Get the status of a job",
		Description: "STEP 2 of 2: Get the status and the outputs of a job that run_flow has started. If the status is pending or running, wait 3 seconds and call " +
			"get_run_status again, until it is completed or failed. Long texts and media are links.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"job_id":{"type":"string","description":"the job_id that run_flow has returned"},` +
			`"token":{"type":"string","description":"the flow's token: the job is shown only if it is of that flow"}},"required":["job_id"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(state + ended + `"created_at":{"type":"string"},"started_at":{"type":"string"},"completed_at":{"type":"string"}`),
		ReadOnly:     true, Idempotent: true, SkipValidation: true,
		Call: func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
			r := f.Answer(ctx, shared(call, "job", "-", "--base-url="+f.base()))
			if !r.IsError {
				r.Structured = only(r.Structured, "job_id", "status", "message", "created_at", "started_at", "completed_at", "outputs", "errors")
				r.Links = outputLinks(r.Structured)
			}
			return r
		},
	}}
}

// shared is a command of pflow-share that reads the arguments of a call.
func shared(call *mcpserver.Call, args ...string) suite.Command {
	arguments := call.Arguments
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = json.RawMessage("{}")
	}
	return suite.Command{Program: "pflow-share", Args: append(args[:1:1], append([]string{"--format=json"}, args[1:]...)...), Stdin: arguments, Caller: suite.CallerOf(call)}
}

// base returns the URL that begins the links to outputs.
func (f *Flows) base() string {
	if f.Base == "" {
		return DefaultBase
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

// Outputs begins the URIs of outputs: it is followed by JOB/KEY.
func (f *Flows) Outputs() string { return f.base() + OutputPath }

// OutputPath begins the paths of outputs: it is followed by JOB/KEY.
const OutputPath = "/api/mcp/outputs/"

// lost is the fault for an answer of pflow-share that cannot be read.
func lost(what string) *fault.Fault {
	return fault.New(fault.Protocol, "pflow-share %s printed something else than an answer", what)
}
