package suitetools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// The most bytes of a prompt's parts: the words of a task that are searched for, and a workflow or what is known about a node.
const (
	maxQuery = 2000
	maxPart  = 8192
)

// Prompts returns the prompts, for drafts that are in the given folder.
func (f *Front) Prompts(drafts string) []mcpserver.Prompt {
	return []mcpserver.Prompt{{
		Name: "write-workflow", Title: "Write a workflow",
		Description: "Write a workflow for a task, run it and keep it: what to do in which order, the node types that fit the task, and the language on one page.",
		Arguments:   []mcpserver.PromptArgument{{Name: "task", Title: "Task", Description: "what the workflow is to do, in a sentence or more", Required: true}},
		Get: func(ctx context.Context, arguments map[string]string) (string, error) {
			if bad := suite.CheckNUL("write-workflow", "task", arguments["task"]); bad != nil {
				return "", bad
			}
			return f.writeWorkflow(ctx, arguments["task"], drafts)
		},
	}, {
		Name: "mend-run", Title: "Mend a run",
		Description: "Find out why a run failed, correct its workflow and go on with the run: what failed, the workflow's text, and what to do.",
		Arguments:   []mcpserver.PromptArgument{{Name: "run", Title: "Run", Description: "the run's id; by default the last run"}},
		Get: func(ctx context.Context, arguments map[string]string) (string, error) {
			if bad := checkText("mend-run", "run", arguments["run"]); bad != nil {
				return "", bad
			}
			return f.mendRun(ctx, arguments["run"], drafts)
		},
	}}
}

// writeWorkflow returns the text of the prompt write-workflow.
func (f *Front) writeWorkflow(ctx context.Context, task, drafts string) (string, error) {
	guide, err := f.reader().readGuide(ctx, nil)
	if err != nil {
		return "", err
	}
	var s strings.Builder
	fmt.Fprintf(&s, "Write a pflow workflow for this task, run it and keep it.\n\n<task>\n%s\n</task>\n\n", task)
	s.WriteString("1. If one of the workflows below does the task, or list_library has one, look at it with describe_workflow and use it instead.\n")
	s.WriteString("2. Choose node types. browse_components with type shows the parameters and outputs of one, with query it finds others. Prefer a node type made for a step over a shell command.\n")
	fmt.Fprintf(&s, "3. Write the draft%s. What varies is an input with a description; secrets are inputs with \"secret\": true. Declare the outputs.\n", f.toWrite("NAME", drafts))
	s.WriteString("4. Run it with execute. If a node fails, correct the draft, and call execute again with resume set to checkpoint.run_id: finished nodes do not run again.\n")
	s.WriteString("5. Keep it with save_to_library, and tell the user its name and inputs.\n\n")
	matches, err := f.matches(ctx, task)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&s, "%s\n%s", matches, guide.Text)
	return s.String(), nil
}

// toWrite returns how a draft is written with the tools that are served.
func (f *Front) toWrite(name, drafts string) string {
	if slices.ContainsFunc(f.chosen(), func(t toolset) bool { return t.name == "drafts" }) {
		return " with write_draft, which checks it, and correct it until it is valid"
	}
	return fmt.Sprintf(" to the file %s/%s.json (execute checks it before it runs anything)", drafts, name)
}

// matches returns the node types and workflows that fit a task, in brief. It is empty if the search fails, because the prompt is of use
// without it.
func (f *Front) matches(ctx context.Context, task string) (string, error) {
	found, err := f.reader().print(ctx, "pflow-lib", "search", "--format", "json", "--detail=brief", "--limit=8", "--", fault.Truncate(task, maxQuery))
	if err != nil {
		return "", ctx.Err()
	}
	var s strings.Builder
	for _, kind := range []struct{ list, name, title string }{{"nodes", "type", "Node types that may fit"}, {"workflows", "name", "Workflows that may fit"}} {
		list := gjson.Get(found.Text, kind.list).Array()
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&s, "%s:\n\n", kind.title)
		for _, item := range list {
			fmt.Fprintf(&s, "* `%s`: %s\n", item.Get(kind.name).Str, fault.Truncate(oneLine(item.Get("description").Str), 200))
		}
		s.WriteString("\n")
	}
	return s.String(), nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
