package suitetools

import "github.com/pflow-suite/pflow/pkg/mcp/mcpserver"

// Front makes the tools and resources of a suite.
type Front struct{ Suite *Suite }

// Tools returns the core tools. In the commands that they start, names come after --, so that they are not parsed as flags.
func (f *Front) Tools() []mcpserver.Tool {
	return []mcpserver.Tool{f.browse(), f.list(), f.describe(), f.execute(), f.save()}
}
