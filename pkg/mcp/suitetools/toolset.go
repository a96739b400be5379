package suitetools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// DefaultToolset is the toolset that a server has if none is chosen.
const DefaultToolset = "core"

// toolset is a group of tools that is served or left out as a whole.
type toolset struct {
	name  string
	tools func(*Front) []mcpserver.Tool
	// instructions is the part of the server's instructions about these tools. DRAFTS in it stands for the folder of drafts.
	instructions string
}

// toolsets returns all toolsets, in the order in which instructions are given. The names of their tools differ.
func toolsets() []toolset {
	return []toolset{
		{"core", (*Front).core, coreInstructions},
		{"drafts", (*Front).drafts, draftsInstructions},
		{"workflows", workflows, workflowsInstructions},
		{"runs", runs, runsInstructions},
		{"servers", servers, serversInstructions},
		{"veloflux", veloflux, velofluxInstructions},
		{Flows, flows, flowsInstructions},
	}
}

// Toolsets returns the names of all toolsets.
func Toolsets() (names []string) {
	for _, t := range toolsets() {
		names = append(names, t.name)
	}
	return names
}

// ParseToolsets returns the names of toolsets in a text such as "core,servers", each once. The empty text is the default
// toolset. An unknown name is a usage_error with the nearest one.
func ParseToolsets(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return []string{DefaultToolset}, nil
	}
	known := Toolsets()
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		switch {
		case !slices.Contains(known, name):
			f := fault.New(fault.Usage, "There is no toolset %q", fault.Truncate(name, 100))
			if near, ok := fault.Nearest(name, known); ok {
				f.Suggest("Did you mean %q?", near)
			}
			f.Available = known
			return nil, f.Suggest("The toolsets are %s", strings.Join(known, ", "))
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	return names, nil
}

// chosen returns the toolsets of the front.
func (f *Front) chosen() []toolset {
	return slices.DeleteFunc(toolsets(), func(t toolset) bool {
		brought := t.name == "runs" && f.ServesWorkflows()
		return !slices.Contains(f.Toolsets, t.name) && !brought && (len(f.Toolsets) > 0 || t.name != DefaultToolset)
	})
}

// serves reports whether a toolset is served.
func (f *Front) serves(name string) bool {
	return slices.ContainsFunc(f.chosen(), func(t toolset) bool { return t.name == name })
}

// Reader is a client of the front, who has the tools of its toolsets.
func (f *Front) Reader() fault.Reader {
	var names []string
	for _, t := range f.chosen() {
		names = append(names, t.name)
	}
	return fault.ToolsOf(names)
}

// ServesWorkflows reports whether each saved workflow is a tool. Their runs can outlive a call, so the tools for runs come with them.
func (f *Front) ServesWorkflows() bool { return slices.Contains(f.Toolsets, "workflows") }

// How long a client may keep the lists: those that do not change while the server serves, and the list of tools with workflows, for a
// client that is not notified.
const (
	keepFixed    = time.Hour
	keepChanging = time.Minute
)

// CachePolicy returns how long clients of a front may keep the answer to a method. All clients see the same.
func CachePolicy(f *Front) func(method string) (ttl time.Duration, private bool) {
	return func(method string) (time.Duration, bool) {
		if method == "tools/list" && f.ServesWorkflows() {
			return keepChanging, false
		}
		return keepFixed, false
	}
}

// Tools returns the tools of the chosen toolsets. In the commands that they start, names come after --, so that they are not
// parsed as flags.
func (f *Front) Tools() []mcpserver.Tool {
	var tools []mcpserver.Tool
	for _, t := range f.chosen() {
		tools = append(tools, t.tools(f)...)
	}
	return limited(f, tools)
}

// Unknown returns the error of a call of a tool that is not served but belongs to a toolset, and nil for any other name.
func (f *Front) Unknown(_ context.Context, call *mcpserver.Call) error {
	for _, t := range toolsets() {
		if slices.ContainsFunc(t.tools(f), func(tool mcpserver.Tool) bool { return tool.Name == call.Tool }) {
			missing := fault.New(fault.NotFound, "The tool %q is not served: it belongs to the toolset %s", call.Tool, t.name)
			if f.Only != nil {
				missing.Message = fmt.Sprintf("The token does not allow the tool %q: it reaches some workflows only", call.Tool)
				return missing
			}
			names := []string{t.name}
			for _, served := range f.chosen() {
				names = append(names, served.name)
			}
			return missing.Suggest("The user can add it in the configuration of this server, with --toolsets %s", strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ","))
		}
	}
	return nil
}

// maxFolder is the longest path of a folder that the instructions repeat. A client's model reads at most 2 kB of them.
const maxFolder = 200

// Instructions returns what the model of a client should know about the chosen toolsets. Drafts is the folder of drafts.
func (f *Front) Instructions(drafts string) string {
	if len(drafts) > maxFolder {
		drafts = "$PFLOW_HOME/workflows"
	}
	parts := []string{"pflow keeps tasks as workflows: JSON or Markdown files that run the same way every time."}
	for _, t := range f.chosen() {
		parts = append(parts, strings.ReplaceAll(t.instructions, "DRAFTS", drafts))
	}
	return strings.Join(parts, "\n")
}
