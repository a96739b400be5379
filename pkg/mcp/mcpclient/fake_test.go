package mcpclient

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

// The test program is its own MCP server: FAKE_SERVER sets its behavior.
func TestMain(m *testing.M) {
	switch mode := os.Getenv("FAKE_SERVER"); mode {
	case "":
		os.Exit(m.Run())
	case "sdk":
		serveSDK()
	case "resources":
		_ = resourceServer().Run(context.Background(), &mcp.StdioTransport{})
	case "asks":
		_ = askingServer().Run(context.Background(), &mcp.StdioTransport{})
	case "roots":
		_ = rootsServer().Run(context.Background(), &mcp.StdioTransport{})
	case "sleep": // the grandchild
		time.Sleep(time.Hour)
	default:
		serveByHand(mode)
	}
}

func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "fake", Version: "1"}, &mcp.ServerOptions{PageSize: 2})
	add := func(name, schema string, h mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Description: "does " + name, InputSchema: json.RawMessage(schema)}, h)
	}
	add("echo", `{"type":"object","properties":{"zebra":{"type":"integer"},"apple":{"type":"string"}},"required":["apple"]}`,
		func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: req.Params.Arguments, Content: []mcp.Content{&mcp.TextContent{Text: "echoed"}}}, nil
		})
	add("fail", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no such repository"}}}, nil
	})
	add("count", `{"type":"object"}`, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 20 {
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: 20, Message: fmt.Sprint("step ", i+1),
			})
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "counted"}}}, nil
	})
	add("wait", `{"type":"object"}`, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Message: "waiting"})
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("large", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 4<<20)}}}, nil
	})
	add("blocks", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: `{"a": 1}`}, &mcp.ImageContent{Data: []byte("x"), MIMEType: "image/png"},
		}}, nil
	})
	return s
}

func serveSDK() {
	_ = sdkServer().Run(context.Background(), &mcp.StdioTransport{})
}

// hang waits for the end of this process. A select without cases would be a deadlock to a program without cgo.
func hang() { <-time.After(time.Hour) }

// serveByHand is a simple server: it knows initialize, tools/list and tools/call, and misbehaves as the mode (at its
// start) or the tool's name (in a call) demands.
func serveByHand(mode string) {
	out := bufio.NewWriter(os.Stdout)
	say := func(format string, args ...any) {
		_, _ = fmt.Fprintf(out, format+"\n", args...)
		_ = out.Flush()
	}
	version := "2025-11-25"
	switch mode {
	case "banner":
		say("Welcome to the fake server!\n[1,2]\n\n{\"level\":30,\"msg\":\"listening\"}")
	case "silent":
		hang()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "polite":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		go func() {
			<-signals
			fmt.Fprintln(os.Stderr, "terminated")
			os.Exit(0)
		}()
	case "grandchild":
		child, err := os.StartProcess(os.Args[0], os.Args[:1], &os.ProcAttr{
			Env: []string{"FAKE_SERVER=sleep"}, Files: []*os.File{nil, os.Stdout, os.Stderr},
		})
		if err != nil {
			panic(err)
		}
		_ = os.WriteFile(os.Getenv("PID_FILE"), fmt.Append(nil, child.Pid), 0o600)
	case "future":
		version = "2099-01-01"
	case "crash":
		fmt.Fprintln(os.Stderr, "config.toml: no such file")
		os.Exit(3)
	case "garbage":
		say(`{"jsonrpc":"2.0","id":1,"result":{`)
	}
	page := 0
	told := map[string]bool{} // the calls that were cancelled
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		req := gjson.ParseBytes(in.Bytes())
		id := req.Get("id").Raw
		answer := func(format string, args ...any) {
			say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, fmt.Sprintf(format, args...))
		}
		refuse := func(code int, message string) {
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
		}
		switch method := req.Get("method").Str; {
		case method == "initialize" && mode == "refusing":
			refuse(-32000, "out of licences")
		case method == "initialize" && mode == "modern":
			refuse(-32601, "no initialize here")
		case method == "server/discover" && mode == "modern":
			answer(`{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
		case method == "initialize":
			answer(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`, version)
		case method == "tools/list" && mode == "circle":
			answer(`{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"again"}`)
		case method == "tools/list" && mode == "endless":
			page++
			answer(`{"tools":[%s{"name":"last%d"}],"nextCursor":"%d"}`, strings.Repeat(`{"name":"a"},`, 999), page, page)
		case method == "tools/list" && mode == "endless empty":
			page++
			answer(`{"tools":[],"nextCursor":"%d"}`, page)
		case method == "tools/list" && mode == "unlisted":
			// never answered
		case method == "tools/list":
			answer(`{"tools":[{"name":"env","inputSchema":{"type":"object"}},{"name":"get","inputSchema":{"type":"object"}},{"name":"method","inputSchema":{"type":"object"}}]}`)
		case method == "tools/call":
			callByHand(req, say, answer, refuse)
		case method == "notifications/cancelled" && mode == "fragile":
			os.Exit(6)
		case method == "notifications/cancelled":
			told[req.Get("params.requestId").Raw] = true
		case method == "" && mode == "fussy" && !told[strings.TrimPrefix(req.Get("id").Str, "q")]:
			os.Exit(6)
		case strings.HasPrefix(method, "notifications/"), method == "": // an answer has no method
		case mode == "strict":
			os.Exit(4)
		case mode == "mute":
		default:
			refuse(-32601, "unknown method")
		}
	}
	if mode == "stubborn" || mode == "polite" {
		hang()
	}
	os.Exit(5) // a server's exit status does not matter
}

func callByHand(req gjson.Result, say, answer func(string, ...any), refuse func(int, string)) {
	switch tool := req.Get("params.name").Str; tool {
	case "numbers":
		answer(`{"content":[],"structuredContent":{"id":9007199254740993,"price":1.10,"huge":123456789012345678901234567890}}`)
	case "large":
		answer(`{"content":[{"type":"text","text":%q}]}`, strings.Repeat("x", 20<<20))
	case "garbage":
		say(`{"jsonrpc":"2.0","id":2,"result":{oops`)
	case "noise":
		say("DEBUG calling noise\nDEBUG still calling")
		answer(`{"content":[{"type":"text","text":"through"}]}`)
	case "exit":
		fmt.Fprintln(os.Stderr, "panic: out of cheese")
		os.Exit(7)
	case "hang":
	case "ask":
		say(`{"jsonrpc":"2.0","id":"q%s","method":"elicitation/create","params":{"message":%q,"requestedSchema":{"type":"object","properties":{}}}}`,
			req.Get("id").Raw, req.Get("params.arguments.who").Str)
	case "env":
		env, _ := json.Marshal(os.Environ())
		answer(`{"content":[{"type":"text","text":%q}]}`, env)
	case "get":
		refuse(-32602, "missing id")
	case "method":
		refuse(-32601, "tools/call is not for you")
	case "told":
		answer(`{"isError":true,"content":[{"type":"text","text":"MCP error -32602: Tool told not found"}]}`)
	default:
		refuse(-32602, "Unknown tool: "+tool)
	}
}
