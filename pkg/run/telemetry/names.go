// Package telemetry derives spans, metrics and log records from the events of runs, as OpenTelemetry's conventions name them.
//
// It keeps the state of live runs only, so its memory does not grow with the stream.
package telemetry

// The conventions are those of OpenTelemetry's semantic conventions 1.41.0: for CI/CD, which a run of a workflow is, and for generative
// AI and MCP, which have since moved to a repository of their own.
const (
	Conventions = "1.41.0"
	// SchemaURL identifies the conventions in what is sent.
	SchemaURL = "https://opentelemetry.io/schemas/" + Conventions
)

// The names of the conventions that are used.
const (
	pipelineName     = "cicd.pipeline.name"
	pipelineRun      = "cicd.pipeline.run.id"
	pipelineState    = "cicd.pipeline.run.state"
	pipelineResult   = "cicd.pipeline.result"
	pipelineAction   = "cicd.pipeline.action.name"
	taskName         = "cicd.pipeline.task.name"
	taskRun          = "cicd.pipeline.task.run.id"
	taskResult       = "cicd.pipeline.task.run.result"
	errorType        = "error.type"
	genOperation     = "gen_ai.operation.name"
	genProvider      = "gen_ai.provider.name"
	genModel         = "gen_ai.response.model"
	genInput         = "gen_ai.usage.input_tokens"
	genOutput        = "gen_ai.usage.output_tokens"
	genCacheCreation = "gen_ai.usage.cache_creation.input_tokens"
	genCacheRead     = "gen_ai.usage.cache_read.input_tokens"
	genTokenType     = "gen_ai.token.type"
	genTool          = "gen_ai.tool.name"
	mcpMethod        = "mcp.method.name"
	serviceName      = "service.name"
	serviceVersion   = "service.version"

	runDuration   = "cicd.pipeline.run.duration"
	runActive     = "cicd.pipeline.run.active"
	runErrors     = "cicd.pipeline.run.errors"
	modelDuration = "gen_ai.client.operation.duration"
	modelTokens   = "gen_ai.client.token.usage"
	callDuration  = "mcp.client.operation.duration"
)

// The names that no convention has.
const (
	ownStatus    = "pflow.run.status"
	ownDigest    = "pflow.workflow.digest"
	ownExecuted  = "pflow.run.nodes_executed"
	ownReused    = "pflow.run.nodes_reused"
	ownCost      = "pflow.cost_usd"
	ownInputs    = "pflow.run.inputs"
	ownOutputs   = "pflow.outputs"
	ownParams    = "pflow.params"
	ownNode      = "pflow.node.path"
	ownType      = "pflow.node.type"
	ownAction    = "pflow.node.action"
	ownAttempt   = "pflow.node.attempt"
	ownItem      = "pflow.node.item"
	ownIteration = "pflow.node.iteration"
	ownRetry     = "pflow.node.will_retry"
	ownHandled   = "pflow.node.handled"
	ownFrom      = "pflow.node.from_run"
	ownCached    = "pflow.node.cached"
	ownReason    = "pflow.node.skip_reason"
	ownServer    = "pflow.mcp.server"
	ownAnswer    = "pflow.approval.answer"
	ownBy        = "pflow.approval.by"
	ownPending   = "pflow.approval.pending"
	ownUnended   = "pflow.incomplete"

	nodeDuration = "pflow.node.duration"
	modelCost    = "pflow.model.cost"
)

// The values of pipelineState.
const (
	pending   = "pending"
	executing = "executing"
)

// The values of pipelineResult and taskResult.
const (
	success      = "success"
	failure      = "failure"
	broken       = "error"
	timeout      = "timeout"
	cancellation = "cancellation"
	skipped      = "skip"
)
