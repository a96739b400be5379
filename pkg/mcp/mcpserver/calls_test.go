package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/stdio"
)

func TestBytesOfArgumentsAndResultsSurvive(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		var seen atomic.Value
		keep := tool("keep", func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
			seen.Store(string(c.Arguments))
			return &mcpserver.Result{Structured: c.Arguments}
		})
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{keep}})
		c.send(hello("2025-11-25"))
		for _, arguments := range []string{
			`{"n":9007199254740993,"m":-9223372036854775808,"u":18446744073709551615}`,
			`{"z":1,"a":1.50,"e":1E+2}`,
			`{"t":"a <b> & \u00e9 é"}`,
			`{}`,
		} {
			c.send(call("1", "keep", arguments))
			line := c.answer("1")
			if got := seen.Load(); got != arguments {
				t.Errorf("the handler saw %s, want %s", got, arguments)
			}
			if got := gjson.Get(line, "result.structuredContent").Raw; got != arguments {
				t.Errorf("sent back %s, want %s", got, arguments)
			}
			if got := gjson.Get(line, "result.content.0.text").Str; got != arguments {
				t.Errorf("as text %s, want %s", got, arguments)
			}
		}
		for _, params := range []string{`{"name":"keep"}`, `{"name":"keep","arguments":null}`} {
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)
			c.answer("1")
			if got := seen.Load(); got != "{}" {
				t.Errorf("%s: the handler saw %s", params, got)
			}
		}
	})
}

const describeSchema = `{"type":"object","additionalProperties":false,"required":["name"],"properties":{
	"name":{"type":"string"},"limit":{"type":"integer"},"mode":{"enum":["fast","full"]},
	"filter":{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"}}}}}}`

func TestArgumentsAreChecked(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		describe := mcpserver.Tool{Name: "describe", InputSchema: json.RawMessage(describeSchema), Call: func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return text("ran")
		}}
		none := mcpserver.Tool{Name: "none", InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false}`), Call: describe.Call}
		broken := mcpserver.Tool{Name: "broken", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"pattern":"("}}}`), Call: describe.Call}
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{describe, none, broken}})
		c.send(hello("2025-11-25"))
		for _, tc := range []struct{ tool, arguments, want string }{
			{"describe", `{"name":"a"}`, ``},
			{"describe", `{"name":"a","limit":9007199254740993,"mode":"full","filter":{"tags":["x"]}}`, ``},
			{"describe", `{"nam":"a"}`, `{"type":"usage_error","message":"The arguments of describe: 2 errors","errors":[` +
				`{"type":"usage_error","message":"describe has no argument \"nam\"","suggestions":["Did you mean \"name\"?","Its arguments are filter, limit, mode, name"],"available":["filter","limit","mode","name"]},` +
				`{"type":"usage_error","message":"The argument \"name\" of describe is missing","missing":["name"]}]}`},
			{"describe", `{"name":5}`, `{"type":"usage_error","message":"The argument name of describe must be a string, not an integer","path":"name"}`},
			{"describe", `{"name":"a","filter":{"tags":[{"b":1}]}}`, `{"type":"usage_error","message":"The argument filter.tags[0] of describe must be a string, not an object","path":"filter.tags[0]"}`},
			{"describe", `{"name":"a","mode":"slow"}`, `{"type":"usage_error","message":"The argument mode of describe must be one of \"fast\", \"full\"","path":"mode"}`},
			{"describe", `[1]`, `{"type":"usage_error","message":"The arguments of describe must be a JSON object"}`},
			{"none", `{"a":1}`, `{"type":"usage_error","message":"none has no argument \"a\"","suggestions":["It takes no arguments"]}`},
		} {
			c.send(call("1", tc.tool, tc.arguments))
			result := gjson.Get(c.answer("1"), "result")
			if diff := cmp.Diff(tc.want, result.Get("structuredContent.error").Raw); diff != "" {
				t.Errorf("%s: %s", tc.arguments, diff)
			}
			if result.Get("isError").Bool() != (tc.want != "") {
				t.Errorf("%s: isError in %s", tc.arguments, result.Raw)
			}
		}
		c.send(call("1", "broken", "{}"))
		if line := c.answer("1"); gjson.Get(line, "result.structuredContent.error.type").Str != "internal_error" {
			t.Errorf("broken schema: %s", line)
		}
	})
}

func TestRefuseChoosesTheShape(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		closed := mcpserver.Tool{Name: "closed", InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false}`)}
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{closed}, Refuse: func(tool string, f *fault.Fault) *mcpserver.Result {
			return &mcpserver.Result{IsError: true, Structured: json.RawMessage(fmt.Sprintf(`{"code":%q,"tool":%q}`, f.Type, tool))}
		}})
		c.send(hello("2025-11-25"), call("1", "closed", `{"a":1}`))
		if got := gjson.Get(c.answer("1"), "result.structuredContent").Raw; got != `{"code":"usage_error","tool":"closed"}` {
			t.Error(got)
		}
	})
}

func TestFailureIsStructuredOnlyAsTheSchemaHasIt(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		fail := func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return &mcpserver.Result{IsError: true, Structured: json.RawMessage(`{"success":false}`)}
		}
		with := func(name, schema string) mcpserver.Tool {
			x := tool(name, fail)
			x.OutputSchema = json.RawMessage(schema)
			return x
		}
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{
			with("fits", `{"type":"object","required":["success"]}`), with("strict", `{"type":"object","required":["streams"]}`),
		}})
		c.send(hello("2025-11-25"), call("1", "fits", "{}"))
		if got := gjson.Get(c.answer("1"), "result.structuredContent").Raw; got != `{"success":false}` {
			t.Errorf("fits: %q", got)
		}
		c.send(call("2", "strict", "{}"))
		if got := gjson.Get(c.answer("2"), "result").Raw; got != `{"content":[{"type":"text","text":"{\"success\":false}"}],"isError":true}` {
			t.Errorf("strict: %s", got)
		}
	})
}

func TestUnknownTool(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}})
		c.send(hello("2025-11-25"), call("1", "ecko", "{}"))
		line := c.answer("1")
		if gjson.Get(line, "error.code").Int() != -32602 || gjson.Get(line, "error.message").Str != `Unknown tool "ecko". Did you mean "echo"?` || gjson.Get(line, "error.data.available.0").Str != "echo" {
			t.Error(line)
		}
	})
}

func TestMaxCallsHoldsBackTheRest(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		const most = 3
		var running, peak atomic.Int32
		entered, release := make(chan struct{}, 20), make(chan struct{})
		busy := tool("busy", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			if n := running.Add(1); n > peak.Load() {
				peak.Store(n)
			}
			entered <- struct{}{}
			<-release
			running.Add(-1)
			return text("ok")
		})
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{busy}, MaxCalls: most})
		c.send(hello("2025-11-25"))
		c.answer("0")
		for i := range 10 {
			c.send(call(fmt.Sprint(i+1), "busy", "{}"))
		}
		for range most {
			<-entered
		}
		c.send(`{"jsonrpc":"2.0","id":100,"method":"ping"}`) // other requests do not wait
		c.answer("100")
		close(release)
		for i := range 10 {
			c.answer(fmt.Sprint(i + 1))
		}
		c.eof()
		if got := len(c.rest()); got != 0 || peak.Load() != most {
			t.Errorf("%d answers too many, at most %d at a time", got, peak.Load())
		}
	})
}

func TestWaitingCallCanBeCancelled(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		entered, release := make(chan string, 2), make(chan struct{})
		busy := tool("busy", func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
			entered <- string(c.Arguments)
			<-release
			return text("ok")
		})
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{busy}, MaxCalls: 1})
		c.send(hello("2025-11-25"), call("1", "busy", `{"n":1}`))
		c.answer("0")
		<-entered
		c.send(call("2", "busy", `{"n":2}`), cancelled("2"), `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		c.answer("3") // so the cancellation is known
		close(release)
		c.answer("1")
		c.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
		c.answer("4")
		c.eof()
		for _, line := range append(c.passed, c.rest()...) {
			// The SDK's transport sends the answer to a cancelled call, ours does not.
			if !gjson.Get(line, "error").Exists() || gjson.Get(line, "id").Raw != "2" || c.drops {
				t.Error(line)
			}
		}
		if len(entered) > 0 {
			t.Errorf("a call that was cancelled while it waited runs: %s", <-entered)
		}
	})
}

func TestProgress(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		var kept *mcpserver.Call
		work := tool("work", func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
			c.Progress(1, 2, "half")
			c.Progress(2, 2, "")
			kept = c
			return text("ok")
		})
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{work}})
		c.send(hello("2025-11-25"), call("1", "work", "{}"))
		c.answer("0")
		if line := c.next(); gjson.Get(line, "id").Raw != "1" {
			t.Errorf("progress without a token: %s", line)
		}
		c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":"p"}}}`)
		for _, want := range []string{`{"progressToken":"p","message":"half","progress":1,"total":2}`, `{"progressToken":"p","progress":2,"total":2}`} {
			if got := gjson.Get(c.next(), "params").Raw; got != want {
				t.Errorf("progress %s, want %s", got, want)
			}
		}
		c.answer("2")
		kept.Progress(3, 3, "too late")
		c.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		if line := c.next(); gjson.Get(line, "id").Raw != "3" {
			t.Errorf("after the call is over: %s", line)
		}
		c.eof()
		if lines := c.rest(); len(lines) != 0 {
			t.Errorf("progress of a call that is over: %v", lines)
		}
	})
}

func library() []mcpserver.Resource {
	read := func(_ context.Context, uri string) (*mcpserver.Content, error) {
		switch uri {
		case "lib://books/1":
			return &mcpserver.Content{Text: "one"}, nil
		case "lib://picture":
			return &mcpserver.Content{MIMEType: "image/png", Blob: []byte{1, 2}}, nil
		case "lib://books/broken":
			return nil, fault.New(fault.Unavailable, "no shelf")
		}
		return nil, fault.New(fault.NotFound, "there is no such book").Suggest("Read lib://books/1")
	}
	return []mcpserver.Resource{
		{URI: "lib://picture", Name: "picture", MIMEType: "image/gif", Read: read},
		{URI: "lib://books/{id}", Name: "book", MIMEType: "text/plain", Read: read},
	}
}

func TestResources(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		const modern = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
		c := over.serve(t, mcpserver.Config{Name: "s", Resources: library()})
		c.send(hello("2025-11-25"))
		for _, tc := range []struct{ uri, meta, path, want string }{
			{"lib://books/1", "", "result.contents.0", `{"uri":"lib://books/1","mimeType":"text/plain","text":"one"}`},
			{"lib://picture", "", "result.contents.0", `{"uri":"lib://picture","mimeType":"image/png","blob":"AQI="}`},
			{"lib://books/2", "", "error", `{"code":-32002,"message":"there is no such book. Read lib://books/1","data":{"type":"not_found","message":"there is no such book","suggestions":["Read lib://books/1"]}}`},
			{"lib://books/2", modern, "error.code", `-32602`},
			{"lib://pictur", "", "error", `{"code":-32002,"message":"Unknown resource \"lib://pictur\". Did you mean \"lib://picture\"?","data":{"type":"not_found","message":"Unknown resource \"lib://pictur\"","suggestions":["Did you mean \"lib://picture\"?"],"available":["lib://picture","lib://books/{id}"]}}`},
			{"lib://books/broken", "", "error", `{"code":-32603,"message":"no shelf","data":{"type":"unavailable","message":"no shelf"}}`},
		} {
			c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + tc.uri + `"` + tc.meta + `}}`)
			if diff := cmp.Diff(tc.want, gjson.Get(c.answer("1"), tc.path).Raw); diff != "" {
				t.Errorf("%s: %s", tc.uri, diff)
			}
		}
	})
}

func TestEveryRevision(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		s := mcpserver.Config{Name: "s", Version: "1", Tools: []mcpserver.Tool{echo()}}
		for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
			c := over.serve(t, s)
			c.send(`{"jsonrpc":"2.0","id":"probe","method":"server/discover","params":{}}`, hello(version), call("1", "echo", "{}"))
			if line := c.answer(`"probe"`); gjson.Get(line, "error.code").Int() != -32601 {
				t.Errorf("%s: discover: %s", version, line)
			}
			if line := c.answer("0"); gjson.Get(line, "result.protocolVersion").Str != version || gjson.Get(line, "result.capabilities").Raw != `{"tools":{}}` {
				t.Errorf("%s: initialize: %s", version, line)
			}
			if line := c.answer("1"); gjson.Get(line, "result").Raw != `{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}` {
				t.Errorf("%s: call: %s", version, line)
			}
		}
		c := over.serve(t, s)
		request := func(method, more string) string {
			return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + more + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		}
		c.send(request("server/discover", ""))
		if line := c.answer("1"); !slices.ContainsFunc(gjson.Get(line, "result.supportedVersions").Array(), func(v gjson.Result) bool { return v.Str == "2026-07-28" }) {
			t.Errorf("discover: %s", line)
		}
		c.send(request("tools/list", ""))
		if line := c.answer("1"); gjson.Get(line, "result.tools.#").Int() != 1 || !gjson.Get(line, "result.ttlMs").Exists() {
			t.Errorf("list: %s", line)
		}
		c.send(request("tools/call", `"name":"echo",`))
		if line := c.answer("1"); gjson.Get(line, "result.resultType").Str != "complete" || gjson.Get(line, "result.structuredContent").Raw != "{}" {
			t.Errorf("call: %s", line)
		}
		c.send(strings.ReplaceAll(request("tools/list", ""), "2026-07-28", "2099-01-01"))
		if line := c.answer("1"); gjson.Get(line, "error.code").Int() != -32022 {
			t.Errorf("unknown revision: %s", line)
		}
		c.send(request("subscriptions/listen", `"notifications":{"toolsListChanged":true},`))
		c.answer("1") // a table that never changes has nothing to listen to, so nothing stays open
	})
}

func TestWithTheSDKsClient(t *testing.T) {
	conversation := func(t *testing.T, transports func(t *testing.T) (here, there mcp.Transport)) {
		named := func(name string) mcpserver.Tool { x := echo(); x.Name = name; return x }
		b := named("b.two")
		b.ReadOnly, b.Idempotent, b.Title, b.OutputSchema = true, true, "Two", json.RawMessage(`{"type":"object"}`)
		links := tool("c", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return &mcpserver.Result{Text: "see", Links: []mcpserver.Link{{URI: "lib://books/1", Name: "one", MIMEType: "text/plain", Size: 3}}}
		})
		links.Destructive, links.OpenWorld = true, true
		s := mcpserver.Config{Name: "s", Instructions: "read me", Tools: []mcpserver.Tool{links, b, named("a")}, Resources: library()}

		here, there := transports(t)
		served := make(chan error, 1)
		go func() { served <- newServer(t, s).Serve(t.Context(), there) }()
		session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), here, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tool := range list.Tools {
			hints, _ := json.Marshal(tool.Annotations)
			got = append(got, tool.Name+" "+string(hints))
		}
		want := []string{
			`a {"destructiveHint":false,"idempotentHint":false,"openWorldHint":false,"readOnlyHint":false}`,
			`b.two {"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,"readOnlyHint":true,"title":"Two"}`,
			`c {"destructiveHint":true,"idempotentHint":false,"openWorldHint":true,"readOnlyHint":false}`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "c"})
		if err != nil {
			t.Fatal(err)
		}
		size := int64(3)
		if diff := cmp.Diff([]mcp.Content{&mcp.TextContent{Text: "see"}, &mcp.ResourceLink{URI: "lib://books/1", Name: "one", MIMEType: "text/plain", Size: &size}}, result.Content); diff != "" {
			t.Error(diff)
		}
		book, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "lib://books/1"})
		if err != nil || book.Contents[0].Text != "one" {
			t.Errorf("%+v %v", book, err)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	}
	t.Run("stdio", func(t *testing.T) {
		conversation(t, func(t *testing.T) (here, there mcp.Transport) {
			serverIn, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			out, serverOut, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			return &mcp.IOTransport{Reader: out, Writer: in}, &stdio.Transport{In: serverIn, Out: serverOut}
		})
	})
	t.Run("memory", func(t *testing.T) {
		conversation(t, func(*testing.T) (here, there mcp.Transport) { return mcp.NewInMemoryTransports() })
	})
}
