package suitetools

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// veloflux returns the tools for a veloFlux Manager.
func veloflux(f *Front) []mcpserver.Tool {
	return []mcpserver.Tool{velofluxCall(f), velofluxRead(f)}
}

const velofluxInstructions = `veloFlux, a stream processor: veloflux_read returns its streams and its SQL functions and syntax, veloflux_call checks SQL (pipelines.verify) and manages pipelines.`

// velofluxSchema is the schema of an answer of veloflux-mcp, which is any object, or a failure in its own form.
func velofluxSchema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"success":{"type":"boolean"},"error":{"type":"object","description":"why the call failed",` +
		`"properties":{"error_code":{"type":"string"},"error_message":{"type":"string"},"details":{"type":"object"}}}}}`)
}

// beginning is the summary of an answer that may be long.
func beginning(document json.RawMessage) string {
	if len(document) <= summaryBytes {
		return string(document)
	}
	return fault.Truncate(string(document), summaryBytes) + "\n(The whole answer is the structured content.)"
}
