package veloflux

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// verifyTool is the name of the tool that creates temporary pipelines.
const verifyTool = "pipelines.verify"

const (
	pipelineID = `"pipeline_id":{"type":"string","minLength":1,"description":"The pipeline's id as pipelines.list shows it"}`
	// definition is the schema of the optional arguments that define a pipeline.
	definition = `"options":{"type":"object","description":"Such as {\"data_channel_capacity\":16,\"eventtime\":{\"enabled\":true}}; a capacity is at most 65536"},` +
		`"sources":{"type":"array","items":{"type":"object"},"description":"How streams that the SQL names are read, such as [{\"stream\":\"user\",\"input\":{\"mode\":\"on_change\",\"on_change\":{\"columns\":[\"a\"]}}}] for only the rows in which a has changed"},` +
		`"flow_instance_id":{"type":"string","description":"The flow instance to run in, if the Manager declares several"}`
)

// pipelineTools returns the tools that work on pipelines.
func pipelineTools() []Tool {
	return []Tool{
		{
			dotted: "pipelines.create", Title: "Create a pipeline",
			Description: "Create a pipeline from one SELECT statement. It is stored but not started. To check SQL, use pipelines.verify, which leaves nothing behind.",
			InputSchema: inputSchema(`"id":{"type":"string","minLength":1,"description":"The new pipeline's id"},`+
				`"sql":{"type":"string","minLength":1,"description":"One SELECT statement"},`+
				`"sinks":{"type":"array","minItems":1,"items":{"type":"object"},"description":"Where the rows go, such as [{\"type\":\"nop\"}] or [{\"type\":\"mqtt\",\"props\":{\"broker_url\":\"tcp://127.0.0.1:1883\",\"topic\":\"/out\"}}]"},`+
				definition, "id", "sql", "sinks"),
			OutputSchema: outputSchema(`"pipeline_id":{"type":"string"},"response":{"type":"object"}`, "pipeline_id", "response"),
			call:         createPipeline,
		},
		{
			dotted: "pipelines.delete", Title: "Delete a pipeline",
			Description: "Delete a pipeline, even while it runs, or the record that a failed create left behind.",
			InputSchema: inputSchema(pipelineID, "pipeline_id"), OutputSchema: outputSchema(`"ok":{"type":"boolean"}`, "ok"),
			Destructive: true, Idempotent: true,
			call: func(ctx context.Context, r *Runtime, args arguments) (json.RawMessage, error) {
				if err := r.manager.DeletePipeline(ctx, args.text("pipeline_id")); err != nil {
					return nil, err
				}
				return json.RawMessage(`{"ok":true}`), nil
			},
		},
		{
			dotted: "pipelines.explain", Title: "Explain a pipeline",
			Description: "Show the logical and the physical plan of a pipeline, as text.",
			InputSchema: inputSchema(pipelineID, "pipeline_id"), OutputSchema: outputSchema(`"pretty":{"type":"string"}`, "pretty"),
			ReadOnly: true, Idempotent: true,
			call: func(ctx context.Context, r *Runtime, args arguments) (json.RawMessage, error) {
				plan, err := r.manager.Explain(ctx, args.text("pipeline_id"))
				if err != nil {
					return nil, err
				}
				return objectWith("pretty", rawjson.Quote(plan)), nil
			},
		},
		{
			dotted: "pipelines.get", Title: "Show a pipeline",
			Description: "Show one pipeline: its status and its definition.",
			InputSchema: inputSchema(pipelineID, "pipeline_id"), OutputSchema: outputSchema(`"pipeline":{"type":"object"}`, "pipeline"),
			ReadOnly: true, Idempotent: true,
			call: fetchCall("pipeline", func(m *Manager, ctx context.Context, args arguments) (json.RawMessage, error) {
				return m.Pipeline(ctx, args.text("pipeline_id"))
			}),
		},
		{
			dotted: "pipelines.list", Title: "List pipelines",
			Description: "List the pipelines with id and status.",
			InputSchema: inputSchema(""), OutputSchema: outputSchema(`"pipelines":{"type":"array","items":{"type":"object"}}`, "pipelines"),
			ReadOnly: true, Idempotent: true,
			ifTooLarge: "Call pipelines.get for one pipeline",
			call:       fetchCall("pipelines", func(m *Manager, ctx context.Context, _ arguments) (json.RawMessage, error) { return m.Pipelines(ctx) }),
		},
		{
			dotted: "pipelines.stats", Title: "Show a pipeline's statistics",
			Description:  "Show the records in and out and the errors of each processor of a running pipeline.",
			InputSchema:  inputSchema(pipelineID+`,"timeout_ms":{"type":"integer","minimum":1,"maximum":3600000,"description":"How long the Manager may take to collect them, in milliseconds; 5000 by default"}`, "pipeline_id"),
			OutputSchema: outputSchema(`"stats":{"type":"array","items":{"type":"object"}}`, "stats"),
			ReadOnly:     true, Idempotent: true,
			call: fetchCall("stats", func(m *Manager, ctx context.Context, args arguments) (json.RawMessage, error) {
				wait := time.Duration(gjson.ParseBytes(args["timeout_ms"]).Float()) * time.Millisecond
				return m.PipelineStats(ctx, args.text("pipeline_id"), wait)
			}),
		},
		{
			dotted: verifyTool, Title: "Verify SQL",
			Description: "Check a SELECT statement by having the Manager plan it. Nothing is left behind: a pipeline with a random id and no real sink is created, explained and deleted. " +
				"Returns the plan, and warnings for constructs that the Manager accepts but drops or computes in another way than SQL says. Wrong SQL is a planner_error, with line and column if the Manager reports them.",
			InputSchema: inputSchema(`"sql":{"type":"string","minLength":1,"description":"One SELECT statement"},`+definition, "sql"),
			OutputSchema: outputSchema(`"valid":{"type":"boolean"},"pretty":{"type":"string","description":"The logical and the physical plan"},`+
				`"warnings":{"type":"array","items":{"type":"object","properties":{"construct":{"type":"string"},"message":{"type":"string"},"line":{"type":"integer"},"column":{"type":"integer"}},"required":["construct","message"]}}`,
				"valid", "pretty", "warnings"),
			Idempotent: true,
			call:       verify,
		},
	}
}

func createPipeline(ctx context.Context, r *Runtime, args arguments) (json.RawMessage, error) {
	body := args.appendTo(append([]byte(`{"id":`), args["id"]...), "sql", "sinks", "options", "sources", "flow_instance_id")
	response, err := r.manager.CreatePipeline(ctx, append(body, '}'))
	if err != nil {
		return nil, err
	}
	return json.RawMessage(`{"pipeline_id":` + string(args["id"]) + `,"response":` + string(response) + `}`), nil
}
