package suitetools

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/tidwall/sjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/offer"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// tool is the tool of a workflow.
func (w *Workflows) tool(name string, l *offer.Listing) mcpserver.Tool {
	shown, checked := l.InputSchemas()
	answers := suite.AnswerSchema(runProperties)
	if outputs := l.Outputs(); outputs != nil {
		if declared, err := sjson.SetRawBytes(answers, "properties.outputs", outputs); err == nil {
			answers = declared
		}
	}
	meta := map[string]any{"pflow/category": l.Category, "pflow/version": l.Version, "pflow/executionType": l.ExecutionType}
	if metadata := offer.Plain(l.Metadata); metadata != nil && len(metadata) <= maxMetadata {
		meta["pflow/metadata"] = metadata
	}
	inputs := func(arguments json.RawMessage) json.RawMessage { return arguments }
	if l.Source != "" {
		meta["pflow/source"] = l.Source
		inputs = func(arguments json.RawMessage) json.RawMessage {
			return slices.Concat(json.RawMessage(`{"arguments":`), arguments, json.RawMessage(`}`))
		}
	}
	f, workflow, endless, wait := w.Front, l.Workflow(), l.Sync(), w.config.Wait.Seconds()
	return mcpserver.Tool{
		Name: name, Title: fault.Truncate(l.Name, maxTitle), Description: fault.Truncate(l.Description, maxDescription),
		InputSchema: shown, CheckedSchema: checked, OutputSchema: answers, Meta: withApp(meta), Destructive: true, OpenWorld: true,
		Call: summarized(func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
			a := &executeArguments{Name: workflow, Inputs: inputs(call.Arguments), WaitSeconds: &wait, endless: endless, logged: true}
			if value, ok := call.Meta[idempotencyKey]; ok {
				key, ok := value.(string)
				if f := checkKey(key, ok); f != nil {
					return suite.Failure(f)
				}
				a.IdempotencyKey = &key
			}
			return runWorkflow(ctx, f, call, a)
		}, ended),
	}
}

// checkKey returns why the value under idempotencyKey cannot be used, or nil.
func checkKey(key string, text bool) *fault.Fault {
	if !text || key == "" || len(key) > maxKey {
		f := fault.New(fault.Usage, "_meta[%q] must be a text of 1 to %d bytes", idempotencyKey, maxKey)
		f.Path = "_meta." + idempotencyKey
		return f
	}
	return suite.CheckNUL("the call", idempotencyKey, key)
}

const (
	// idempotencyKey is the key in a call's _meta.
	idempotencyKey = "pflow/idempotency_key"
	maxKey         = 256
	maxTitle       = 100
	maxMetadata    = 16 << 10
	maxDescription = 2000 // clients cut what is longer than 2 kB
)
