package suitetools

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// Front makes the tools and resources of a suite.
type Front struct{ Suite *Suite }

// Tools returns the core tools. In the commands that they start, names come after --, so that they are not parsed as flags.
func (f *Front) Tools() []mcpserver.Tool {
	return []mcpserver.Tool{f.browse(), f.list(), f.describe(), f.execute(), f.save()}
}

// alwaysLoad returns the _meta of a tool that a client shows to its model from the start. Claude Code shows only the names of
// the others, until the model searches for them.
func alwaysLoad() map[string]any { return map[string]any{"anthropic/alwaysLoad": true} }

func schema(text string) json.RawMessage { return json.RawMessage(text) }
