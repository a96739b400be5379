package mcpclient_test

import (
	"fmt"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
)

// The instructions of MCP servers show a document to paste. Names take the suite's form.
func ExampleParseServers() {
	servers, notes, err := mcpclient.ParseServers([]byte(`{"mcpServers":{
		"My Docs":{"url":"https://example.com/mcp"},
		"files":{"command":"npx","args":["-y","server-filesystem","${ROOT:-/tmp}"]}
	}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range servers.Names() {
		fmt.Println(name, servers[name].Transport())
	}
	fmt.Println(notes)
	none := func(string) (string, bool) { return "", false }
	fmt.Println(servers["files"].Expand(none).Args)
	// Output:
	// files stdio
	// my-docs http
	// [server "My Docs" is called my-docs here]
	// [-y server-filesystem /tmp]
}
