package node

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// The test program is also the MCP server.
func TestMain(m *testing.M) {
	if os.Getenv("NODE_TEST_SERVER") == "" {
		process.AdoptOrphans() // the system's first process may be slow to wait for them
		os.Exit(m.Run())
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "fake", Version: "1"}, nil)
	add := func(name string, result func(arguments json.RawMessage) *mcp.CallToolResult) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return result(req.Params.Arguments), nil
		})
	}
	add("mirror", func(arguments json.RawMessage) *mcp.CallToolResult {
		return &mcp.CallToolResult{StructuredContent: arguments}
	})
	add("fail", func(arguments json.RawMessage) *mcp.CallToolResult {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: `no such "thing"`}}}
	})
	add("die", func(json.RawMessage) *mcp.CallToolResult {
		os.Exit(3)
		return nil
	})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}

func TestMCPNode(t *testing.T) {
	pool := mcpclient.NewPool(func(name string) (mcpclient.Spec, error) {
		if name != "fake" {
			return mcpclient.Spec{}, fault.New(fault.NotFound, "There is no MCP server %s", name)
		}
		return mcpclient.Spec{Name: name, Server: mcpclient.Server{Command: os.Args[0], Env: map[string]string{"NODE_TEST_SERVER": "1"}}}, nil
	})
	defer pool.Close()
	call := func(server, tool, params string) *Result {
		t.Helper()
		kind := mcpclient.NodeType(server, mcpclient.Tool{Name: tool, InputSchema: json.RawMessage(`{"properties":{"n":{"type":"integer"},"any":{}},"required":["n"]}`)})
		n := &workflow.Node{ID: "n", Type: kind.Name, Params: json.RawMessage(params)}
		p, err := Prepare(n, kind, &Binding{Scope: values{"v": `"12345678901234567"`}.scope, Known: func(string) bool { return true }})
		if err != nil {
			t.Fatal(err)
		}
		on := task(t)
		on.Servers = pool
		return Run(t.Context(), p, on)
	}
	r := call("fake", "mirror", `{"n":"${v}","any":null,"html":"plain","$ref":{"$blob":"x"},"error":"mine","result":1}`)
	want := `{"result":{"$$ref":{"$$blob":"x"},"any":null,"error":"mine","html":"plain","n":12345678901234567,"result":1},"error":null,` +
		`"$$ref":{"$$blob":"x"},"any":null,"html":"plain","n":12345678901234567}`
	if r.Fault != nil || r.Action != "default" || string(r.Outputs) != want {
		t.Errorf("%v\ngot  %s\nwant %s", r.Fault, r.Outputs, want)
	}
	r = call("fake", "fail", `{"n":1}`)
	failedWith(t, r, fault.Execution, `MCP tool failed: no such "thing"`)
	if string(r.Outputs) != `{"result":"no such \"thing\"","error":"no such \"thing\""}` {
		t.Errorf("%s", r.Outputs)
	}
	r = call("fake", "die", `{"n":1}`)
	failedWith(t, r, fault.Execution)
	if !strings.HasPrefix(string(r.Outputs), `{"result":null,"error":"`) {
		t.Errorf("%s", r.Outputs)
	}
	if r = call("fake", "mirror", `{"n":1}`); r.Fault != nil { // started anew
		t.Error(r.Fault)
	}
	failedWith(t, call("other", "mirror", `{"n":1}`), fault.Execution, "There is no MCP server other") // the run failed, it was not refused
}

func TestToolOutputs(t *testing.T) {
	for _, c := range []struct{ result, failure, want string }{
		{``, "", `{"result":null,"error":null}`},
		{``, "a \"b\"\n", `{"result":null,"error":"a \"b\"\n"}`},
		{`[1]`, "", `{"result":[1],"error":null}`},
		{`{}`, "", `{"result":{},"error":null}`},
		{`{"a":1.10,"result":2,"error":3,"\"q\"":4}`, "", `{"result":{"a":1.10,"result":2,"error":3,"\"q\"":4},"error":null,"a":1.10,"\"q\"":4}`},
	} {
		var result json.RawMessage
		if c.result != "" {
			result = json.RawMessage(c.result)
		}
		if got := string(toolOutputs(result, c.failure)); got != c.want || !json.Valid([]byte(got)) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestMCPOutputsAreDeclared(t *testing.T) {
	kind := mcpclient.NodeType("s", mcpclient.Tool{Name: "t", OutputSchema: json.RawMessage(`{"properties":{"a":{},"result":{},"error":{}}}`)})
	var names []string
	for _, o := range kind.Outputs {
		names = append(names, o.Name)
	}
	if strings.Join(names, " ") != "result error a" || !kind.ExtraOutputs {
		t.Errorf("%v open %v", names, kind.ExtraOutputs)
	}
}
