package telemetry

import (
	"testing"

	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/cicdconv"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
	"go.opentelemetry.io/otel/semconv/v1.41.0/mcpconv"
)

// TestNamesAreThoseOfTheConventions compares the names with the constants that OpenTelemetry generates from the conventions.
func TestNamesAreThoseOfTheConventions(t *testing.T) {
	for published, own := range map[string]string{
		semconv.SchemaURL:                                       SchemaURL,
		string(semconv.CICDPipelineNameKey):                     pipelineName,
		string(semconv.CICDPipelineRunIDKey):                    pipelineRun,
		string(semconv.CICDPipelineRunStateKey):                 pipelineState,
		string(semconv.CICDPipelineResultKey):                   pipelineResult,
		string(semconv.CICDPipelineActionNameKey):               pipelineAction,
		string(semconv.CICDPipelineTaskNameKey):                 taskName,
		string(semconv.CICDPipelineTaskRunIDKey):                taskRun,
		string(semconv.CICDPipelineTaskRunResultKey):            taskResult,
		string(semconv.ErrorTypeKey):                            errorType,
		string(semconv.GenAIOperationNameKey):                   genOperation,
		string(semconv.GenAIProviderNameKey):                    genProvider,
		string(semconv.GenAIResponseModelKey):                   genModel,
		string(semconv.GenAIUsageInputTokensKey):                genInput,
		string(semconv.GenAIUsageOutputTokensKey):               genOutput,
		string(semconv.GenAIUsageCacheCreationInputTokensKey):   genCacheCreation,
		string(semconv.GenAIUsageCacheReadInputTokensKey):       genCacheRead,
		string(semconv.GenAITokenTypeKey):                       genTokenType,
		string(semconv.GenAIToolNameKey):                        genTool,
		string(semconv.McpMethodNameKey):                        mcpMethod,
		string(semconv.ServiceNameKey):                          serviceName,
		string(semconv.ServiceVersionKey):                       serviceVersion,
		semconv.CICDPipelineRunStatePending.Value.AsString():    pending,
		semconv.CICDPipelineRunStateExecuting.Value.AsString():  executing,
		semconv.CICDPipelineResultSuccess.Value.AsString():      success,
		semconv.CICDPipelineResultFailure.Value.AsString():      failure,
		semconv.CICDPipelineResultError.Value.AsString():        broken,
		semconv.CICDPipelineResultTimeout.Value.AsString():      timeout,
		semconv.CICDPipelineResultCancellation.Value.AsString(): cancellation,
		semconv.CICDPipelineResultSkip.Value.AsString():         skipped,
		semconv.GenAIOperationNameChat.Value.AsString():         chat,
		semconv.GenAIOperationNameInvokeAgent.Value.AsString():  invokeAgent,
		semconv.GenAIOperationNameExecuteTool.Value.AsString():  executeTool,
		semconv.McpMethodNameToolsCall.Value.AsString():         mcpCall,
	} {
		if published != own {
			t.Errorf("the convention has %q, this package %q", published, own)
		}
	}
	m := NewMeter(noon)
	for _, published := range []interface{ Name() string }{
		cicdconv.PipelineRunDuration{}, cicdconv.PipelineRunActive{}, cicdconv.PipelineRunErrors{}, genaiconv.ClientOperationDuration{}, genaiconv.ClientTokenUsage{}, mcpconv.ClientOperationDuration{},
	} {
		i, described := m.instruments[published.Name()], published.(interface {
			Unit() string
			Description() string
		})
		if i == nil || i.unit != described.Unit() || i.about != described.Description() {
			t.Errorf("%s is %+v, want the unit %q and %q", published.Name(), i, described.Unit(), described.Description())
		}
	}
}
