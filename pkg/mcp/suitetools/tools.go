// Package suitetools defines the tools and resources of pflow-serve as a table of commands. Each call starts programs of
// the suite: this package knows about workflows, node types and runs only what they print.
package suitetools

import (
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/feed"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// Front makes the tools and resources of a suite.
type Front struct {
	Suite *suite.Programs
	// Toolsets are the names of the toolsets to serve, as ParseToolsets returns them; nil is the default toolset.
	Toolsets []string
	// Only are the only workflows that can be reached, with their runs; nil is all.
	Only []string
	// Base is the URL under which clients reach the server, without a slash at its end. Links to the outputs of flows begin with it.
	Base string
	// Feed brings the events of runs to the streams of flows; nil if the transport has no streams.
	Feed *feed.Feed
	// Workflows keeps the tools of the saved workflows. It is set if ServesWorkflows.
	Workflows *Workflows

	// asked knows when tasks have asked their questions.
	asked askedTimes
}

// core returns the tools for workflows.
func (f *Front) core() []mcpserver.Tool {
	return []mcpserver.Tool{f.browse(), f.list(), f.describe(), f.execute(), f.save()}
}

const draftsInstructions = `Drafts without a file tool: write_draft writes one and answers its faults; read_draft, check_draft and delete_draft.`

const coreInstructions = `1. browse_components finds node types with their parameters and outputs; list_library and describe_workflow find what exists already.
2. Write a draft to DRAFTS/NAME.json: {"inputs":{…},"nodes":[{"id","type","params"}],"edges":[{"from","to"}],"outputs":{"NAME":{"source":"${node.key}"}}}. ${node.key} in a parameter is another node's output. A node can also have "batch", "loop", "retry", "timeout", "approval" and "cache". The resource pflow://guide is the language on one page.
3. execute checks it and runs it. When a node fails, correct the draft and execute it again with resume set to checkpoint.run_id: finished nodes do not run again.
4. save_to_library keeps it.`
