// Package archtest has the rules of the code base that the compiler does not check: which folder may import which, and what may
// be called where. docs/architecture.md shows the same tables, and a test compares them.
package archtest

// Folder is a folder below pkg/. Its packages may import pkg/fault and pkg/rawjson, the packages of the same folder that
// are listed before them, and the packages of the folders in MayImport.
type Folder struct {
	Name string
	// Packages are paths below pkg/, lowest first.
	Packages []string
	// MayImport names folders that are listed before this one.
	MayImport []string
}

// Folders are the folders below pkg/, lowest first.
var Folders = []Folder{
	{"fault", []string{"fault"}, nil},
	{"rawjson", []string{"rawjson", "rawjson/jsonschema"}, nil},

	{"process", []string{"process", "process/chain", "process/environ"}, nil},
	{"event", []string{"event", "event/history", "event/trace"}, nil},
	{"nodetype", []string{"nodetype"}, nil},
	{"home", []string{"home/input", "home", "home/settings", "home/redact"}, nil},
	{"terminal", []string{"terminal/cells", "terminal/manual", "terminal/completion", "terminal/cli"}, []string{"process", "home"}},

	{"workflow", []string{
		"workflow/yaml", "workflow/program", "workflow", "workflow/schema", "workflow/template", "workflow/shell", "workflow/plan", "workflow/check", "workflow/graph",
	}, []string{"event", "nodetype", "terminal"}},
	{"run", []string{"run/journal", "run/index", "run/params", "run/reader", "run/watch", "run/runflags", "run/progress", "run/report", "run/otlp", "run/telemetry", "run/cluster/payload", "run/cluster"}, []string{"process", "event", "home", "terminal", "workflow"}},
	{"catalog", []string{"catalog/page", "catalog/search", "catalog/stored", "catalog/registry", "catalog/library", "catalog/dependencies", "catalog/upstream"}, []string{"nodetype", "home", "workflow", "run"}},
	{"share", []string{"share/sealed", "share/store", "share/output", "share"}, []string{"process", "event", "home", "workflow", "run", "catalog"}},
	{"mcp", []string{"mcp/access", "mcp/form", "mcp/toolargs", "mcp/oauth", "mcp/mcpclient", "mcp/message", "mcp/stdio", "mcp/mcpserver", "mcp/mcphttp", "mcp/source", "mcp/offer", "mcp/suitetools/suite", "mcp/suitetools/feed", "mcp/suitetools/flow", "mcp/suitetools", "mcp/flowhttp", "mcp/mcphttp/runpage", "mcp/install", "mcp/clientconfig"}, []string{"process", "nodetype", "home"}},

	{"engine", []string{"engine/cache", "engine/node", "engine/flow", "engine/resume", "engine", "engine/runner"}, []string{"process", "event", "nodetype", "home", "workflow", "run", "catalog", "mcp"}},
	{"nodes", []string{"nodes/nodeprogram", "nodes/jq", "nodes/llm", "nodes/agent"}, []string{"process", "nodetype", "home", "workflow"}},
	{"veloflux", []string{"veloflux"}, []string{"process", "home", "mcp"}},
}

// Programs names for each program the folders below pkg/ that its command line may import besides pkg/fault and pkg/rawjson.
var Programs = map[string][]string{
	"pflow-exec":       {"event", "home", "terminal", "workflow", "run", "engine"},
	"pflow-lib":        {"event", "nodetype", "home", "terminal", "workflow", "run", "catalog", "mcp", "nodes"},
	"pflow-sync":       {"process", "nodetype", "home", "terminal", "catalog", "mcp"},
	"pflow-serve":      {"terminal", "mcp"},
	"pflow-share":      {"terminal", "share"},
	"pflow-otel":       {"home", "terminal", "run"},
	"pflow-temporal":   {"process", "event", "home", "terminal", "workflow", "run", "catalog"},
	"pflow-node-agent": {"process", "nodetype", "terminal", "nodes"},
	"pflow-node-jq":    {"nodetype", "terminal", "nodes"},
	"pflow-node-llm":   {"home", "terminal", "nodes"},
	"veloflux-mcp":     {"home", "terminal", "mcp", "veloflux"},

	"pflow-node-source-workflow": {"process", "nodetype", "home", "terminal", "mcp", "nodes"},
}
