package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// modern is a request of the stateless revision.
func modern(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
}

func legacy(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`
}

// request is one of either.
func request(stateless bool, id, method, params string) string {
	if stateless {
		return modern(id, method, params+",")
	}
	return legacy(id, method, params)
}

// shelf reads any URI there is.
func shelf(_ context.Context, uri string) (*mcpserver.Content, error) {
	switch uri {
	case "lib://nothing":
		return nil, nil
	case "lib://missing":
		return nil, fmt.Errorf("on the way: %w", &mcpserver.Error{Kind: mcpserver.NotFound, Message: "no such book", Data: json.RawMessage(`{"error_code":"not_found"}`)})
	case "lib://invalid":
		return nil, &mcpserver.Error{Kind: mcpserver.Invalid, Message: "no name"}
	case "lib://down":
		return nil, &mcpserver.Error{Kind: mcpserver.Internal, Message: "no shelf", Data: json.RawMessage(`[1]`)}
	case "lib://unspecified":
		return nil, &mcpserver.Error{Message: "odd", Data: json.RawMessage(`{"torn`)}
	case "lib://fault":
		return nil, fault.New(fault.NotFound, "no book")
	case "lib://plain":
		return nil, errors.New("what?")
	case "lib://typed":
		return &mcpserver.Content{MIMEType: "text/html", Text: uri, TTL: 1500*time.Millisecond + 999*time.Microsecond, Private: true}, nil
	case "lib://empty":
		return &mcpserver.Content{MIMEType: "text/plain"}, nil
	case "lib://picture":
		return &mcpserver.Content{Blob: []byte{1, 2}, TTL: -time.Second}, nil
	}
	return &mcpserver.Content{Text: uri}, nil
}

func TestServerReadsForItself(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		never := func(context.Context, string) (*mcpserver.Content, error) {
			t.Error("the resource's own Read is asked")
			return nil, nil
		}
		s := mcpserver.Config{Name: "s", Read: shelf, Resources: []mcpserver.Resource{
			{URI: "lib://picture", Name: "picture", MIMEType: "image/png", Read: never},
			{URI: "lib://{+any}", Name: "any", MIMEType: "text/any"},
			{URI: "lib://books/{id}", Name: "book", MIMEType: "text/book"},
			{URI: "lib://b{rest}", Name: "b", MIMEType: "text/b"},
		}}
		c := over.serve(t, s)
		c.send(hello("2025-11-25"))
		if got := gjson.Get(c.answer("0"), "result.capabilities").Raw; got != `{"resources":{}}` {
			t.Errorf("capabilities %s", got)
		}
		for _, tc := range []struct{ uri, contents, ttl, scope string }{
			{"lib://picture", `[{"uri":"lib://picture","mimeType":"image/png","blob":"AQI="}]`, "0", "public"},
			{"lib://books/1", `[{"uri":"lib://books/1","mimeType":"text/book","text":"lib://books/1"}]`, "0", "public"},
			{"lib://books", `[{"uri":"lib://books","mimeType":"text/b","text":"lib://books"}]`, "0", "public"},
			{"lib://any", `[{"uri":"lib://any","mimeType":"text/any","text":"lib://any"}]`, "0", "public"},
			{"LIB://unlisted", `[{"uri":"LIB://unlisted","text":"LIB://unlisted"}]`, "0", "public"},
			{"no URI", `[{"uri":"no URI","text":"no URI"}]`, "0", "public"},
			{"lib://typed", `[{"uri":"lib://typed","mimeType":"text/html","text":"lib://typed"}]`, "1500", "private"},
		} {
			for _, stateless := range []bool{false, true} {
				c.send(request(stateless, "1", "resources/read", `"uri":"`+tc.uri+`"`))
				result := gjson.Get(c.answer("1"), "result")
				if diff := cmp.Diff(tc.contents, result.Get("contents").Raw); diff != "" {
					t.Errorf("%s: %s", tc.uri, diff)
				}
				kind, ttl, scope := "", "", ""
				if stateless {
					kind, ttl, scope = "complete", tc.ttl, tc.scope
				}
				if result.Get("resultType").Str != kind || result.Get("ttlMs").Raw != ttl || result.Get("cacheScope").Str != scope {
					t.Errorf("%s, stateless %v: %s", tc.uri, stateless, result.Raw)
				}
			}
		}
	})
}

// TestEmptyContentsAreSent: contents have a text or a blob, also if that is empty, however they are read.
func TestEmptyContentsAreSent(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		for name, config := range map[string]mcpserver.Config{
			"server":   {Name: "s", Read: shelf},
			"resource": {Name: "s", Resources: []mcpserver.Resource{{URI: "lib://empty", Name: "empty", MIMEType: "text/plain", Read: shelf}}},
			"template": {Name: "s", Resources: []mcpserver.Resource{{URI: "lib://{any}", Name: "any", MIMEType: "text/plain", Read: shelf}}},
		} {
			c := over.serve(t, config)
			c.send(hello("2025-11-25"))
			for _, stateless := range []bool{false, true} {
				c.send(request(stateless, "1", "resources/read", `"uri":"lib://empty"`))
				result := gjson.Get(c.answer("1"), "result")
				if diff := cmp.Diff(`[{"uri":"lib://empty","mimeType":"text/plain","text":""}]`, result.Get("contents").Raw); diff != "" {
					t.Errorf("%s, stateless %v: %s", name, stateless, diff)
				}
				if result.Get("ttlMs").Exists() != stateless || result.Get("resultType").Exists() != stateless {
					t.Errorf("%s, stateless %v: %s", name, stateless, result.Raw)
				}
			}
		}
	})
}

func TestErrorsOfReads(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		table := func(s mcpserver.Config) mcpserver.Config {
			s.Name = "s"
			return s
		}
		for name, s := range map[string]mcpserver.Config{
			"server":   table(mcpserver.Config{Read: shelf}),
			"resource": table(mcpserver.Config{Resources: []mcpserver.Resource{{URI: "lib://{+any}", Name: "any", Read: shelf}}}),
		} {
			c := over.serve(t, s)
			c.send(hello("2025-11-25"))
			if got := gjson.Get(c.answer("0"), "result.capabilities").Raw; got != `{"resources":{}}` {
				t.Errorf("%s: capabilities %s", name, got)
			}
			for _, tc := range []struct {
				uri            string
				before, since  int64
				message, datum string
			}{
				{"lib://missing", -32002, -32602, "no such book", `{"error_code":"not_found"}`},
				{"lib://invalid", -32602, -32602, "no name", ``},
				{"lib://down", -32603, -32603, "no shelf", `[1]`},
				{"lib://unspecified", -32603, -32603, "odd", ``},
				{"lib://fault", -32002, -32602, "no book", `{"type":"not_found","message":"no book"}`},
				{"lib://plain", -32603, -32603, "what?", `{"type":"internal_error","message":"what?"}`},
			} {
				for _, stateless := range []bool{false, true} {
					c.send(request(stateless, "1", "resources/read", `"uri":"`+tc.uri+`"`))
					e := gjson.Get(c.answer("1"), "error")
					code := tc.before
					if stateless {
						code = tc.since
					}
					if e.Get("code").Int() != code || e.Get("message").Str != tc.message || e.Get("data").Raw != tc.datum {
						t.Errorf("%s, %s, stateless %v: %s", name, tc.uri, stateless, e.Raw)
					}
				}
			}
			c.send(legacy("1", "resources/read", `"uri":"lib://nothing"`))
			if e := gjson.Get(c.answer("1"), "error"); e.Get("code").Int() != -32603 || e.Get("data.type").Str != "internal_error" || !strings.Contains(e.Get("message").Str, "lib://nothing") {
				t.Errorf("%s, no content: %s", name, e.Raw)
			}
		}
	})
}

func TestUnknownToolsAreTheServersOwn(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		var seen atomic.Value
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}, Unknown: func(_ context.Context, call *mcpserver.Call) error {
			call.Progress(1, 2, "it leads nowhere")
			seen.Store(call.Tool + " " + string(call.Arguments))
			switch call.Tool {
			case "own":
				return &mcpserver.Error{Kind: mcpserver.NotFound, Message: "no tool", Data: json.RawMessage(`{"error_code":"not_found"}`)}
			case "down":
				return &mcpserver.Error{Kind: mcpserver.Internal, Message: "no table"}
			case "fault":
				return fault.New(fault.NotFound, "not here")
			case "busy":
				return fault.New(fault.Unavailable, "not now")
			case "crash":
				panic("ouch")
			}
			return nil
		}})
		c.send(hello("2025-11-25"))
		for _, tc := range []struct {
			tool, arguments, saw string
			code                 int64
			data                 string
		}{
			{"own", `,"arguments":{"a":1.50}`, `own {"a":1.50}`, -32602, `{"error_code":"not_found"}`},
			{"own", `,"arguments":null`, `own null`, -32602, `{"error_code":"not_found"}`},
			{"own", `,"arguments":[1]`, `own [1]`, -32602, `{"error_code":"not_found"}`},
			{"down", ``, `down `, -32603, ``},
			{"fault", ``, `fault `, -32602, `{"type":"not_found","message":"not here"}`},
			{"busy", ``, `busy `, -32603, `{"type":"unavailable","message":"not now"}`},
			{"ecko", ``, `ecko `, -32602, `{"type":"not_found","message":"Unknown tool \"ecko\"","suggestions":["Did you mean \"echo\"?"],"available":["echo"]}`},
		} {
			c.send(legacy("1", "tools/call", `"name":"`+tc.tool+`"`+tc.arguments))
			e := gjson.Get(c.answer("1"), "error")
			if e.Get("code").Int() != tc.code || e.Get("data").Raw != tc.data || seen.Load() != tc.saw {
				t.Errorf("%s: %s, saw %q", tc.tool, e.Raw, seen.Load())
			}
		}
		c.send(legacy("1", "tools/call", `"name":"crash"`))
		if line := c.answer("1"); gjson.Get(line, "error.code").Int() != -32603 {
			t.Errorf("crash: %s", line)
		}
	})
}

func TestUncheckedArgumentsAreAsTheyCame(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		var seen atomic.Value
		anything := tool("any", func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
			seen.Store(string(c.Arguments))
			return text("ran")
		})
		anything.InputSchema, anything.SkipValidation = json.RawMessage(describeSchema), true
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{anything}})
		c.send(hello("2025-11-25"))
		for arguments, want := range map[string]string{
			``: ``, `,"arguments":null`: `null`, `,"arguments":[1, 2]`: `[1, 2]`, `,"arguments":7`: `7`, `,"arguments":{"x":1.0, "x":9007199254740993}`: `{"x":1.0, "x":9007199254740993}`,
		} {
			c.send(legacy("1", "tools/call", `"name":"any"`+arguments))
			if line := c.answer("1"); gjson.Get(line, "result.content.0.text").Str != "ran" || seen.Load() != c.asSent(want) {
				t.Errorf("%s: saw %q, %s", arguments, seen.Load(), line)
			}
		}
	})
}
