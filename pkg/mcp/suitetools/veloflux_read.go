package suitetools

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// velofluxRead is the tool veloflux_read.
func velofluxRead(f *Front) mcpserver.Tool {
	return mcpserver.Tool{
		Name: "veloflux_read", Title: "Read from veloFlux",
		Description: "Read a resource of the veloFlux Manager: veloFlux://streams/snapshot, veloFlux://streams/schema?name=STREAM, " +
			"veloFlux://catalog/functions_digest or veloFlux://catalog/syntax_digest. Read these before writing SQL.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"uri":{"type":"string","description":"the resource, such as veloFlux://streams/snapshot"}},` +
			`"required":["uri"],"additionalProperties":false}`),
		OutputSchema: velofluxSchema(),
		ReadOnly:     true, Idempotent: true, OpenWorld: true,
		Call: summarized(document[velofluxReadArguments](f), beginning),
	}
}

type velofluxReadArguments struct {
	URI string `json:"uri"`
}

func (a velofluxReadArguments) command() suite.Command {
	return suite.Command{Program: "veloflux-mcp", Args: []string{"read", "--format", "json", "--", a.URI}}
}
