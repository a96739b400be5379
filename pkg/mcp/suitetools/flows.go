package suitetools

import (
	"context"
	"slices"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/flow"
)

// Flows is the toolset of workflows that are shared by a link. Its tools carry their own credential, the token of the link.
const Flows = "flows"

const flowsInstructions = `Shared flows: get_flow_info, then run_flow.`

// flows returns the tools for workflows that are shared by a link.
func flows(f *Front) []mcpserver.Tool { return sharedFlows(f).Tools() }

// sharedFlows returns the shared workflows of a front's suite.
func sharedFlows(f *Front) *flow.Flows {
	return &flow.Flows{Suite: f.Suite, Base: f.Base, Feed: f.Feed, Answer: f.answer}
}

// onlyFlows reports whether the front serves shared flows and nothing else.
func onlyFlows(f *Front) bool { return slices.Equal(f.Toolsets, []string{Flows}) }

// resourcesOf returns the resources of the chosen toolsets: for shared flows the outputs of jobs, which are named by the job's id.
func resourcesOf(f *Front) []resource {
	var rows []resource
	r := f.reader()
	if !onlyFlows(f) {
		rows = r.resources()
	}
	if f.serves(Flows) {
		rows = append(rows, resource{
			uri: sharedFlows(f).Outputs() + "{job}/{key}", name: "flow-output", title: "An output of a job", path: true,
			description: "The bytes of an output. The results of run_flow and get_run_status link to it.",
			read: func(ctx context.Context, values []string) (*mcpserver.Content, error) {
				o, err := flow.ReadOutput(ctx, f.Suite, values[0], values[1])
				if err != nil {
					return nil, err
				}
				return o.Content(), nil
			},
		})
	}
	return rows
}
