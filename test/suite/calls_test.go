package suite

import "slices"

// shape is the form of what a successful call prints on a pipe.
type shape int

const (
	document shape = iota // one JSON document
	lines                 // one JSON object per line
	text                  // text, on a pipe as on a terminal
	stream                // one JSON object per line, also on a terminal: a protocol, or events
	nothing
)

// call is a command line that is run on a pipe and on a terminal. Blanks separate the fields of command lines.
type call struct {
	line  string
	shape shape
	exit  int
	// terminalExit is the exit status on a terminal if it is another one.
	terminalExit int
	// before are command lines that prepare the call.
	before []string
	stdin  string
}

const (
	good    = "pflow-exec run good"
	failing = "pflow-exec run failing"
	add     = "pflow-sync add front -- pflow-serve"
	sync    = "pflow-sync sync front"
	save    = "pflow-lib save good shared"
	share   = "pflow-share add shared --owner-funded"

	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n"

	fluxPipeline = `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop"}]}`
)

// endless are the commands that only a signal, or the end of their reader, ends, and those that need a cluster. They have tests of
// their own.
var endless = []string{"pflow-exec watch", "pflow-serve http", "pflow-temporal worker", "pflow-temporal node", "pflow-temporal start", "pflow-temporal resume", "pflow-temporal status",
	"pflow-temporal wait", "pflow-temporal events", "pflow-temporal cancel", "pflow-temporal approve", "pflow-temporal list", "pflow-temporal gc"}

// calls has at least one successful and one failing call of every command of every program.
var calls = slices.Concat(execCalls, libCalls, shareCalls, syncCalls, serveCalls, velofluxCalls, nodeCalls)

// syncCalls are those of pflow-sync.
var syncCalls = []call{
	{line: "pflow-sync --help", shape: text},
	{line: "pflow-sync --version", shape: text},
	{line: "pflow-sync", exit: 2},
	{line: "pflow-sync completion fish", shape: text},
	{line: "pflow-sync completion csh", exit: 2},
	{line: "pflow-sync add front -- pflow-serve", shape: document},
	{line: "pflow-sync add -", stdin: `{"mcpServers":{"front":{"command":"pflow-serve"}}}`, shape: document},
	{line: "pflow-sync add ../front -- pflow-serve", exit: 2},
	{line: "pflow-sync add -", stdin: "{", exit: 2},
	{line: "pflow-sync list", shape: lines},
	{line: "pflow-sync list", before: []string{add}, shape: lines},
	{line: "pflow-sync list more", exit: 2},
	{line: "pflow-sync show front", before: []string{add, sync}, shape: document},
	{line: "pflow-sync show front", exit: 2},
	{line: "pflow-sync import", shape: lines},
	{line: "pflow-sync import --all", shape: document},
	{line: "pflow-sync import front", exit: 2},
	{line: "pflow-sync remove front", before: []string{add}, shape: document},
	{line: "pflow-sync remove front", exit: 2},
	{line: "pflow-sync sync front", before: []string{add}, shape: document},
	{line: "pflow-sync sync --all", shape: document},
	{line: "pflow-sync sync", exit: 2},
	{line: "pflow-sync sync front", exit: 2},
	{line: "pflow-sync sync gone", before: []string{"pflow-sync --quiet add gone -- no-such-program"}, exit: 1},
	{line: "pflow-sync disable front", before: []string{add}, shape: document},
	{line: "pflow-sync disable front", exit: 2},
	{line: "pflow-sync enable front", before: []string{add}, shape: document},
	{line: "pflow-sync enable front", exit: 2},
	{line: "pflow-sync login web --quiet", shape: document},
	{line: "pflow-sync login web", before: []string{"pflow-sync remove web"}, exit: 2},
	{line: "pflow-sync login web --client-secret open", exit: 2},
	{line: "pflow-sync login front", before: []string{add}, exit: 2},
	{line: "pflow-sync logout web", before: []string{"pflow-sync login web --quiet"}, shape: document},
	{line: "pflow-sync logout nowhere", exit: 2},
	{line: "pflow-sync doctor", before: []string{add, sync}, shape: lines},
	{line: "pflow-sync doctor front", exit: 2},
	{line: "pflow-sync doctor", before: []string{"pflow-sync --quiet add gone -- no-such-program"}, exit: 1},
	{line: "pflow-sync nodes", shape: document},
	{line: "pflow-sync nodes more", exit: 2},
	{line: "pflow-sync tools", before: []string{add, sync}, shape: lines},
	{line: "pflow-sync tools front", exit: 2},
	{line: "pflow-sync call front list_library", before: []string{add}, shape: document},
	{line: "pflow-sync call -- pflow-serve -- list_library", shape: document},
	{line: "pflow-sync call front --resource pflow://guide", before: []string{add}, shape: document},
	{line: "pflow-sync call front --resource pflow://nothing", before: []string{add}, exit: 2},
	{line: "pflow-sync call front describe_workflow name=no-such", before: []string{add}, exit: 1},
	{line: "pflow-sync call front no_such_tool", before: []string{add}, exit: 2},
	{line: "pflow-sync call nowhere tool", exit: 2},
}

// serveCalls are those of pflow-serve.
var serveCalls = []call{
	{line: "pflow-serve --help", shape: text},
	{line: "pflow-serve --version", shape: text},
	{line: "pflow-serve completion bash", shape: text},
	{line: "pflow-serve completion csh", exit: 2},
	{line: "pflow-serve install cursor --print", shape: document},
	{line: "pflow-serve install notepad", exit: 2},
	{line: "pflow-serve", shape: nothing},
	{line: "pflow-serve stdio", stdin: initialize, shape: stream},
	{line: "pflow-serve stdio more", exit: 2},
	{line: "pflow-serve token add desk --toolsets core,runs --flows good", shape: document},
	{line: "pflow-serve token add desk", before: []string{"pflow-serve token add desk"}, exit: 2},
	{line: "pflow-serve token add desk --flows ../good", exit: 2},
	{line: "pflow-serve token list", shape: lines},
	{line: "pflow-serve token list", before: []string{"pflow-serve token add desk"}, shape: lines},
	{line: "pflow-serve token list more", exit: 2},
	{line: "pflow-serve token remove desk", before: []string{"pflow-serve token add desk"}, shape: document},
	{line: "pflow-serve token remove desk", exit: 2},
	{line: "pflow-serve http --listen 127.0.0.1", exit: 2},
	{line: "pflow-serve http --toolsets core --listen 0.0.0.0:0", exit: 2},
	{line: "pflow-serve http --toolsets core,flows --listen 127.0.0.1:0 --public-url https://flows.example.com", exit: 2},
}

// nodeCalls are those of the node programs, pflow-otel and pflow-temporal.
var nodeCalls = []call{
	{line: "pflow-node-llm --describe", shape: text},
	{line: "pflow-node-llm more", exit: 2},
	{line: "pflow-node-llm completion bash", shape: text},
	{line: "pflow-node-llm completion csh", exit: 2},
	{line: "pflow-node-agent --describe", shape: text},
	{line: "pflow-node-agent more", exit: 2},
	{line: "pflow-node-agent completion bash", shape: text},
	{line: "pflow-node-agent completion csh", exit: 2},
	{line: "pflow-node-jq --describe", shape: text},
	{line: "pflow-node-jq more", exit: 2},
	{line: "pflow-node-jq completion bash", shape: text},
	{line: "pflow-node-jq completion csh", exit: 2},
	{line: "pflow-otel --print", shape: nothing},
	{line: "pflow-otel more", exit: 2},
	{line: "pflow-otel completion bash", shape: text},
	{line: "pflow-otel completion csh", exit: 2},
	{line: "pflow-temporal worker", exit: 2},
	{line: "pflow-temporal worker --queue q --slots -1", exit: 2},
	{line: "pflow-temporal worker --queue q --blobs /no/such/folder", exit: 2},
	{line: "pflow-temporal node --queue q", exit: 2},
	{line: "pflow-temporal node --queue q", stdin: "[]", exit: 2},
	{line: "pflow-temporal node --queue q --codec-key-file /no/such/file", stdin: `{"v":1,"type":"echo"}`, exit: 2},
	{line: "pflow-temporal start no-such-workflow --queue q", exit: 2},
	{line: "pflow-temporal resume r01nothing no-such-workflow --queue q", exit: 2},
	{line: "pflow-temporal start good --queue q --jobs -1", exit: 2},
	{line: "pflow-temporal status r01 --blobs /no/such/folder", exit: 2},
	{line: "pflow-temporal wait", exit: 2},
	{line: "pflow-temporal events r01 --codec-key-file /no/such/file", exit: 2},
	{line: "pflow-temporal cancel", exit: 2},
	{line: "pflow-temporal approve r01", exit: 2},
	{line: "pflow-temporal list --blobs /no/such/folder", exit: 2},
	{line: "pflow-temporal gc", exit: 2},
	{line: "pflow-temporal gc --blobs /no/such/folder", exit: 2},
	{line: "pflow-temporal start good --queue q --approve yes", exit: 2},
	{line: "pflow-temporal completion bash", shape: text},
	{line: "pflow-temporal completion csh", exit: 2},
	{line: "pflow-node-source-workflow --describe", shape: text},
	{line: "pflow-node-source-workflow more", exit: 2},
	{line: "pflow-node-source-workflow completion bash", shape: text},
	{line: "pflow-node-source-workflow completion csh", exit: 2},
}
