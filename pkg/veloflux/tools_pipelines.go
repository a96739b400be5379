package veloflux

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// verifying is the tool that makes temporary pipelines.
const verifying = "pipelines.verify"

const (
	pipelineID = `"pipeline_id":{"type":"string","minLength":1,"description":"The pipeline's id as pipelines.list has it"}`
	// definition are the arguments that a pipeline is made of besides id, sql and sinks.
	definition = `"options":{"type":"object","description":"Such as {\"data_channel_capacity\":16,\"eventtime\":{\"enabled\":true}}"},` +
		`"sources":{"type":"array","items":{"type":"object"},"description":"Sources of the pipeline's own"},` +
		`"flow_instance_id":{"type":"string","description":"The flow instance to run in, when the Manager declares several"}`
)

// pipelineTools are about pipelines.
func pipelineTools() []Tool {
	return []Tool{
		{
			dotted: "pipelines.create", Title: "Create a pipeline",
			Description: "Create a pipeline of one SELECT statement. It is stored and not started. To see whether SQL is right use pipelines.verify, which leaves nothing behind.",
			InputSchema: input(`"id":{"type":"string","minLength":1,"description":"The new pipeline's id"},`+
				`"sql":{"type":"string","minLength":1,"description":"One SELECT statement"},`+
				`"sinks":{"type":"array","minItems":1,"items":{"type":"object"},"description":"Where the rows go, such as [{\"type\":\"nop\"}] or [{\"type\":\"mqtt\",\"props\":{\"broker_url\":\"tcp://127.0.0.1:1883\",\"topic\":\"/out\"}}]"},`+
				definition, "id", "sql", "sinks"),
			OutputSchema: output(`"pipeline_id":{"type":"string"},"response":{"type":"object"}`, "pipeline_id", "response"),
			call:         createPipeline,
		},
		{
			dotted: "pipelines.delete", Title: "Delete a pipeline",
			Description: "Delete a pipeline, also one that runs, and also what a failed create has left behind.",
			InputSchema: input(pipelineID, "pipeline_id"), OutputSchema: output(`"ok":{"type":"boolean"}`, "ok"),
			Destructive: true, Idempotent: true,
			call: func(ctx context.Context, r *Runtime, args fields) (json.RawMessage, error) {
				if err := r.manager.DeletePipeline(ctx, args.text("pipeline_id")); err != nil {
					return nil, err
				}
				return json.RawMessage(`{"ok":true}`), nil
			},
		},
		{
			dotted: "pipelines.explain", Title: "Explain a pipeline",
			Description: "Show the logical and the physical plan of a pipeline, as text.",
			InputSchema: input(pipelineID, "pipeline_id"), OutputSchema: output(`"pretty":{"type":"string"}`, "pretty"),
			ReadOnly: true, Idempotent: true,
			call: func(ctx context.Context, r *Runtime, args fields) (json.RawMessage, error) {
				plan, err := r.manager.Explain(ctx, args.text("pipeline_id"))
				if err != nil {
					return nil, err
				}
				return under("pretty", rawjson.Quote(plan)), nil
			},
		},
		{
			dotted: "pipelines.get", Title: "Show a pipeline",
			Description: "Show one pipeline: its status and what it was created with.",
			InputSchema: input(pipelineID, "pipeline_id"), OutputSchema: output(`"pipeline":{"type":"object"}`, "pipeline"),
			ReadOnly: true, Idempotent: true,
			call: asked("pipeline", func(m *Manager, ctx context.Context, args fields) (json.RawMessage, error) {
				return m.Pipeline(ctx, args.text("pipeline_id"))
			}),
		},
		{
			dotted: "pipelines.list", Title: "List pipelines",
			Description: "List the pipelines with id and status.",
			InputSchema: input(""), OutputSchema: output(`"pipelines":{"type":"array","items":{"type":"object"}}`, "pipelines"),
			ReadOnly: true, Idempotent: true,
			narrow: "Ask pipelines.get for one pipeline",
			call:   asked("pipelines", func(m *Manager, ctx context.Context, _ fields) (json.RawMessage, error) { return m.Pipelines(ctx) }),
		},
		{
			dotted: "pipelines.stats", Title: "Show a pipeline's statistics",
			Description:  "Show the records in and out, and the errors, of each processor of a pipeline that runs.",
			InputSchema:  input(pipelineID+`,"timeout_ms":{"type":"integer","minimum":1,"maximum":3600000,"description":"How long the Manager may take to collect them, in milliseconds; 5000 by default"}`, "pipeline_id"),
			OutputSchema: output(`"stats":{"type":"array","items":{"type":"object"}}`, "stats"),
			ReadOnly:     true, Idempotent: true,
			call: asked("stats", func(m *Manager, ctx context.Context, args fields) (json.RawMessage, error) {
				wait := time.Duration(gjson.ParseBytes(args["timeout_ms"]).Float()) * time.Millisecond
				return m.PipelineStats(ctx, args.text("pipeline_id"), wait)
			}),
		},
		{
			dotted: verifying, Title: "Verify SQL",
			Description: "Have the Manager plan a SELECT statement, and leave nothing behind: a pipeline with a random id and no real sink is created, explained and deleted. " +
				"Gives the plan, and warnings for what the Manager accepts and silently drops. Wrong SQL is a planner_error, with line and column where the Manager tells them.",
			InputSchema: input(`"sql":{"type":"string","minLength":1,"description":"One SELECT statement"},`+definition, "sql"),
			OutputSchema: output(`"valid":{"type":"boolean"},"pretty":{"type":"string","description":"The logical and the physical plan"},`+
				`"warnings":{"type":"array","items":{"type":"object","properties":{"construct":{"type":"string"},"message":{"type":"string"},"line":{"type":"integer"},"column":{"type":"integer"}},"required":["construct","message"]}}`,
				"valid", "pretty", "warnings"),
			Idempotent: true,
			call:       verify,
		},
	}
}

func createPipeline(ctx context.Context, r *Runtime, args fields) (json.RawMessage, error) {
	body := args.appendTo(append([]byte(`{"id":`), args["id"]...), "sql", "sinks", "options", "sources", "flow_instance_id")
	response, err := r.manager.CreatePipeline(ctx, append(body, '}'))
	if err != nil {
		return nil, err
	}
	return json.RawMessage(`{"pipeline_id":` + string(args["id"]) + `,"response":` + string(response) + `}`), nil
}
