package suite

// shape is what a call that succeeds prints on a pipe.
type shape int

const (
	document shape = iota // one JSON document
	lines                 // one JSON object a line
	text                  // a text by nature, on a pipe as on a terminal
	stream                // one JSON object a line, on a terminal too: a protocol, or events as they are
	nothing
)

// call is a command line that is run on a pipe and on a terminal. Fields of the command lines are parted by blanks.
type call struct {
	line  string
	shape shape
	exit  int
	// before are command lines that make what the call is about.
	before []string
	stdin  string
}

const (
	good    = "pflow-exec run good"
	failing = "pflow-exec run failing"
	add     = "pflow-sync add front -- pflow-serve"
	sync    = "pflow-sync sync front"

	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n"
)

// calls has, of every command of every program, at least one call that succeeds and one that fails.
var calls = []call{
	{line: "pflow-exec --help", shape: text},
	{line: "pflow-exec --version", shape: text},
	{line: "pflow-exec --quiet --version", shape: text},
	{line: "pflow-exec", exit: 2},
	{line: "pflow-exec no-such-command", exit: 2},
	{line: "pflow-exec --format yaml list", exit: 2},
	{line: "pflow-exec completion bash", shape: text},
	{line: "pflow-exec completion csh", exit: 2},
	{line: "pflow-exec run good", shape: lines},
	{line: "pflow-exec run - --inputs -", exit: 2},
	{line: "pflow-exec run -", stdin: chain("echo piped"), shape: lines},
	{line: "pflow-exec run --format json good", shape: document},
	{line: "pflow-exec run --print last good", shape: text},
	{line: "pflow-exec run --print nothing good", exit: 2},
	{line: "pflow-exec run failing", exit: 1},
	{line: "pflow-exec run --format json failing", exit: 1},
	{line: "pflow-exec run --timeout 0.05 slow", exit: 124},
	{line: "pflow-exec run --format json --timeout 0.05 slow", exit: 124},
	{line: "pflow-exec run bad", exit: 2},
	{line: "pflow-exec run no-such", exit: 2},
	{line: "pflow-exec run no-such.json", exit: 2},
	{line: "pflow-exec run --format json no-such", exit: 2},
	{line: "pflow-exec run --name ../good", exit: 2},
	{line: "pflow-exec run good colour=red", exit: 2},
	{line: "pflow-exec run greet", exit: 2},
	{line: "pflow-exec run good --resume rnone", exit: 2},
	{line: "pflow-exec run good --no-such-flag", exit: 2},
	{line: "pflow-exec start good", shape: document},
	{line: "pflow-exec start no-such", exit: 2},
	{line: "pflow-exec start greet", exit: 2},
	{line: "pflow-exec status last", before: []string{good}, shape: document},
	{line: "pflow-exec status last", before: []string{failing}, shape: document},
	{line: "pflow-exec status last", exit: 2},
	{line: "pflow-exec wait last", before: []string{good}, shape: document},
	{line: "pflow-exec wait last --print last", before: []string{good}, shape: text},
	{line: "pflow-exec wait last", before: []string{failing}, exit: 1},
	{line: "pflow-exec wait last", exit: 2},
	{line: "pflow-exec events last", before: []string{good}, shape: stream},
	{line: "pflow-exec events last --follow", before: []string{failing}, shape: stream},
	{line: "pflow-exec events last", exit: 2},
	{line: "pflow-exec cancel last", before: []string{good}, shape: document},
	{line: "pflow-exec cancel last", exit: 2},
	{line: "pflow-exec resume last", before: []string{good}, shape: lines},
	{line: "pflow-exec resume last", before: []string{failing}, exit: 1},
	{line: "pflow-exec resume last", exit: 2},
	{line: "pflow-exec list", shape: lines},
	{line: "pflow-exec list", before: []string{good, failing}, shape: lines},
	{line: "pflow-exec list --format json", shape: document},
	{line: "pflow-exec list more", exit: 2},

	{line: "pflow-lib --help", shape: text},
	{line: "pflow-lib --version", shape: text},
	{line: "pflow-lib", exit: 2},
	{line: "pflow-lib completion zsh", shape: text},
	{line: "pflow-lib completion csh", exit: 2},
	{line: "pflow-lib list", shape: lines},
	{line: "pflow-lib list --drafts", shape: lines},
	{line: "pflow-lib list --format json", shape: document},
	{line: "pflow-lib list a b", exit: 2},
	{line: "pflow-lib show good", shape: text},
	{line: "pflow-lib show good --as json", shape: text},
	{line: "pflow-lib show no-such", exit: 2},
	{line: "pflow-lib show ../good", exit: 2},
	{line: "pflow-lib describe good", shape: document},
	{line: "pflow-lib describe no-such", exit: 2},
	{line: "pflow-lib describe bad", shape: document},
	{line: "pflow-lib describe torn", exit: 2},
	{line: "pflow-lib check good", shape: document},
	{line: "pflow-lib check -", stdin: chain("echo piped"), shape: document},
	{line: "pflow-lib check bad", exit: 2},
	{line: "pflow-lib check no-such.json", exit: 2},
	{line: "pflow-lib graph good", shape: text},
	{line: "pflow-lib graph good --as svg", shape: text},
	{line: "pflow-lib graph good --run last", before: []string{"pflow-exec run good"}, shape: text},
	{line: "pflow-lib graph no-such", exit: 2},
	{line: "pflow-lib graph good --run last", exit: 2},
	{line: "pflow-lib new fresh", shape: document},
	{line: "pflow-lib new fresh --form markdown", shape: document},
	{line: "pflow-lib new good", exit: 2},
	{line: "pflow-lib schema", shape: text},
	{line: "pflow-lib schema more", exit: 2},
	{line: "pflow-lib guide", shape: text},
	{line: "pflow-lib guide more", exit: 2},
	{line: "pflow-lib search", shape: document},
	{line: "pflow-lib search file --no-workflows", shape: document},
	{line: "pflow-lib browse no-such-words", shape: document},
	{line: "pflow-lib search a b", exit: 2},
	{line: "pflow-lib save good kept", shape: document},
	{line: "pflow-lib save bad kept", exit: 2},
	{line: "pflow-lib save no-such kept", exit: 2},
	{line: "pflow-lib save good good", before: []string{"pflow-lib save failing good"}, exit: 2},
	{line: "pflow-lib remove good", shape: document},
	{line: "pflow-lib remove no-such", exit: 2},

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
	{line: "pflow-sync remove front", before: []string{add}, shape: document},
	{line: "pflow-sync remove front", exit: 2},
	{line: "pflow-sync sync front", before: []string{add}, shape: document},
	{line: "pflow-sync sync --all", shape: document},
	{line: "pflow-sync sync", exit: 2},
	{line: "pflow-sync sync front", exit: 2},
	{line: "pflow-sync sync gone", before: []string{"pflow-sync --quiet add gone -- no-such-program"}, exit: 1},
	{line: "pflow-sync tools", before: []string{add, sync}, shape: lines},
	{line: "pflow-sync tools front", exit: 2},
	{line: "pflow-sync call front list_library", before: []string{add}, shape: document},
	{line: "pflow-sync call -- pflow-serve -- list_library", shape: document},
	{line: "pflow-sync call front describe_workflow name=no-such", before: []string{add}, exit: 1},
	{line: "pflow-sync call front no_such_tool", before: []string{add}, exit: 2},
	{line: "pflow-sync call nowhere tool", exit: 2},

	{line: "pflow-serve --help", shape: text},
	{line: "pflow-serve --version", shape: text},
	{line: "pflow-serve completion bash", shape: text},
	{line: "pflow-serve completion csh", exit: 2},
	{line: "pflow-serve", shape: nothing},
	{line: "pflow-serve stdio", stdin: initialize, shape: stream},
	{line: "pflow-serve stdio more", exit: 2},

	{line: "veloflux-mcp --help", shape: text},
	{line: "veloflux-mcp --version", shape: text},
	{line: "veloflux-mcp", exit: 2},
	{line: "veloflux-mcp --stdio", stdin: initialize, shape: stream},
	{line: "veloflux-mcp completion bash", shape: text},
	{line: "veloflux-mcp completion csh", exit: 2},
	{line: "veloflux-mcp call streams.list", shape: document},
	{line: "veloflux-mcp call streams.list --manager-url http://127.0.0.1:1", exit: 1},
	{line: "veloflux-mcp call streams.list nothing=1", exit: 2},
	{line: "veloflux-mcp call no.such.tool", exit: 1},
	{line: "veloflux-mcp call streams.list --manager-url ftp://127.0.0.1", exit: 2},
	{line: "veloflux-mcp tools", shape: lines},
	{line: "veloflux-mcp tools more", exit: 2},
}
