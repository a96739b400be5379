package suitetools

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// Resources returns the outputs of runs, for texts that are too long for an answer.
func (f *Front) Resources() []mcpserver.Resource {
	return []mcpserver.Resource{{
		URI: "pflow://runs/{run}/outputs/{key}", Name: "run-output", Title: "An output of a run",
		Description: "One output of a run as text. The results of execute link to it in place of long texts.",
		MIMEType:    "text/plain",
		Read:        f.readOutput,
	}}
}

func (f *Front) readOutput(ctx context.Context, uri string) (*mcpserver.Content, error) {
	rest, ok := strings.CutPrefix(uri, "pflow://runs/")
	run, key, both := strings.Cut(rest, "/outputs/")
	key, err := url.PathUnescape(key)
	if !ok || !both || err != nil {
		return nil, fault.New(fault.NotFound, "There is no resource %s", uri).Suggest("Outputs are pflow://runs/RUN/outputs/KEY")
	}
	o, err := f.Suite.run(ctx, command{program: "pflow-exec", args: []string{"--quiet", "wait", "--format", "json", "--print=" + key, "--", run}})
	if err != nil {
		return nil, err
	}
	if o.exit != 0 {
		failed := fault.New(fault.NotFound, "Run %s has no output %q", run, key)
		if said := gjson.GetBytes(o.output, "error"); said.Exists() && json.Unmarshal([]byte(said.Raw), failed) == nil {
			failed.Type = fault.NotFound // for the client the output does not exist, whatever the reason
		}
		return nil, failed
	}
	return &mcpserver.Content{Text: string(o.output)}, nil
}
