package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"os"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/stdio"
)

func ExampleServer_Serve() {
	greet := mcpserver.Tool{
		Name: "greet", Description: "Greet someone",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"who":{"type":"string"}},"required":["who"],"additionalProperties":false}`),
		Call: func(_ context.Context, call *mcpserver.Call) *mcpserver.Result {
			return &mcpserver.Result{Text: "Hello, " + gjson.GetBytes(call.Arguments, "who").Str}
		},
	}
	server, err := mcpserver.New(mcpserver.Config{Name: "example", Version: "1.0", Tools: []mcpserver.Tool{greet}})
	if err != nil {
		log.Fatal(err)
	}
	in := strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"who":"Ada"}}}` + "\n")
	err = server.Serve(context.Background(), &stdio.Transport{In: io.NopCloser(in), Out: os.Stdout})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{}},"protocolVersion":"2025-11-25","serverInfo":{"name":"example","version":"1.0"}}}
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Hello, Ada"}]}}
}
