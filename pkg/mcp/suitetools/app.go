package suitetools

import (
	"context"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// The MCP App (SEP-1865, revision 2026-01-26): a page that a client shows for the call of a tool which names it. It reads the fragments
// of the run as resources, so that core has no tool more for it.
const (
	appURI  = "ui://pflow/run"
	appType = "text/html;profile=mcp-app"
)

// maxFragment is the most bytes of a fragment, which the App reads every second while a run goes on. Of a long run it shows less.
const maxFragment = 512 << 10

// appMeta returns the _meta of the App: it loads nothing, and has no border of its own.
func appMeta() map[string]any {
	none := []string{}
	return map[string]any{"ui": map[string]any{
		"csp": map[string]any{"connectDomains": none, "resourceDomains": none, "frameDomains": none, "baseUriDomains": none}, "prefersBorder": true,
	}}
}

// withApp returns the _meta of a tool whose calls the App shows. meta may be nil.
func withApp(meta map[string]any) map[string]any {
	if meta == nil {
		meta = map[string]any{}
	}
	meta["ui"] = map[string]any{"resourceUri": appURI}
	return meta
}

// appTools returns the served tools that the App's buttons call.
func appTools(f *Front) (tools []string) {
	if f.serves("runs") || f.ServesWorkflows() {
		tools = append(tools, "run_resume", "run_cancel")
	}
	if f.serves(DefaultToolset) {
		tools = append(tools, "execute")
	}
	return tools
}

func (r reader) readApp(ctx context.Context, _ []string) (*mcpserver.Content, error) {
	args := []string{"report", "--format", "json", "--app"}
	if len(r.tools) > 0 {
		args = append(args, "--tools="+strings.Join(r.tools, ","))
	}
	return r.print(ctx, "pflow-exec", args...)
}

func (r reader) readFragment(ctx context.Context, values []string) (*mcpserver.Content, error) {
	return r.print(ctx, "pflow-exec", "report", "--format", "json", "--fragment", "--max-bytes="+strconv.Itoa(maxFragment), "--", values[0])
}
