package suitetools

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// limited returns the tools of a front that reaches some workflows only: those that run, describe and follow one of them. Tools that
// show or change anything else are left out.
func limited(f *Front, tools []mcpserver.Tool) []mcpserver.Tool {
	if f.Only == nil {
		return tools
	}
	checks := map[string]func(context.Context, *Front, gjson.Result) *fault.Fault{
		"execute": func(ctx context.Context, f *Front, a gjson.Result) *fault.Fault {
			if unknown := mayRun(f, a.Get("name").Str); unknown != nil || a.Get("resume").Str == "" {
				return unknown
			}
			return mayFollow(ctx, f, a.Get("resume").Str)
		},
		"describe_workflow": func(ctx context.Context, f *Front, a gjson.Result) *fault.Fault {
			if unknown := mayRun(f, a.Get("name").Str); unknown != nil || a.Get("run_id").Str == "" {
				return unknown
			}
			return mayFollow(ctx, f, a.Get("run_id").Str)
		},
		"list_runs": func(_ context.Context, f *Front, a gjson.Result) *fault.Fault {
			if !a.Get("workflow").Exists() {
				return fault.New(fault.Usage, "The argument workflow is required: only the runs of some workflows can be listed").Offer("", f.Only)
			}
			return mayRun(f, a.Get("workflow").Str)
		},
	}
	for _, name := range []string{"run_wait", "run_resume", "run_cancel", "run_status", "run_logs"} {
		checks[name] = func(ctx context.Context, f *Front, a gjson.Result) *fault.Fault {
			return mayFollow(ctx, f, a.Get("run_id").Str)
		}
	}
	var left []mcpserver.Tool
	for _, tool := range tools {
		check := checks[tool.Name]
		if check == nil {
			continue
		}
		call := tool.Call
		tool.Call = func(ctx context.Context, c *mcpserver.Call) *mcpserver.Result {
			if missing := check(ctx, f, gjson.ParseBytes(lastMembers(c.Arguments))); missing != nil {
				return suite.Failure(missing)
			}
			return call(ctx, c)
		}
		left = append(left, tool)
	}
	return left
}

// lastMembers returns an object in which each name stands once. Of several members with one name, encoding/json, which reads the
// arguments for the command, takes the last.
func lastMembers(object json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	once, _ := rawjson.Marshal(members) // each of which has just been read
	return once
}

// mayRun returns a fault if the front does not reach a workflow.
func mayRun(f *Front, name string) *fault.Fault {
	if f.Only == nil || slices.Contains(f.Only, name) {
		return nil
	}
	return fault.New(fault.NotFound, "There is no workflow %q", fault.Truncate(name, maxEcho)).Offer(name, f.Only)
}

// mayFollow returns a fault if the front does not reach a run. The fault for a run of another workflow is the one for no run at all.
func mayFollow(ctx context.Context, f *Front, run string) *fault.Fault {
	if f.Only == nil {
		return nil
	}
	if run == "last" {
		return fault.New(fault.Usage, "The run must be named by its run_id: the last one may be of another workflow")
	}
	r := f.answer(ctx, suite.Command{Program: "pflow-exec", Args: []string{"status", "--format", "json", "--", run}})
	of := gjson.GetManyBytes(r.Structured, "run_id", "workflow")
	if r.IsError || of[0].Str != run || mayRun(f, of[1].Str) != nil {
		return fault.New(fault.NotFound, "There is no run %q", fault.Truncate(run, maxEcho))
	}
	return nil
}

// mayRead returns an error if the front does not reach a resource.
func mayRead(ctx context.Context, f *Front, uri string, values []string) error {
	var missing *fault.Fault
	switch {
	case strings.HasPrefix(uri, scheme+"workflows/"):
		missing = mayRun(f, values[0])
	case strings.HasPrefix(uri, scheme+"runs/"):
		missing = mayFollow(ctx, f, values[0])
	}
	if missing != nil {
		return missing
	}
	return nil
}
