package mcpserver_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// TestInitializeAfterAProbe holds that a client whose probe came too late, or that changes its mind, gets the session
// that it would have got without.
func TestInitializeAfterAProbe(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		entered, release := make(chan struct{}), make(chan struct{})
		slow := tool("slow", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			close(entered)
			<-release
			return &mcpserver.Result{Structured: []byte(`{"rows":1}`), Summary: "1 row"}
		})
		s := mcpserver.Config{Name: "s", Title: "S", Version: "1", Instructions: "read me", Tools: []mcpserver.Tool{slow, echo()}, Resources: library()}
		plain := over.serve(t, s)
		plain.send(hello("2024-11-05"))
		want := gjson.Get(plain.answer("0"), "result").Raw

		c := over.serve(t, s)
		c.send(modern(`"probe"`, "server/discover", ""))
		c.answer(`"probe"`)
		c.send(modern(`"slow"`, "tools/call", `"name":"slow",`))
		<-entered
		c.send(hello("2024-11-05"))
		if diff := cmp.Diff(want, gjson.Get(c.answer("0"), "result").Raw); diff != "" {
			t.Error(diff)
		}
		close(release) // what was open before is answered, in its own revision
		if line := c.answer(`"slow"`); gjson.Get(line, "result.resultType").Str != "complete" || gjson.Get(line, "result.content.0.text").Str != "1 row" {
			t.Error(line)
		}
		c.send(legacy("1", "resources/read", `"uri":"lib://books/none"`)) // and later requests in the revision agreed to
		if line := c.answer("1"); gjson.Get(line, "error.code").Int() != -32002 {
			t.Error(line)
		}
		c.send(legacy("2", "tools/list", ""))
		if line := c.answer("2"); gjson.Get(line, "result.ttlMs").Exists() {
			t.Error(line)
		}
		c.send(modern("3", "tools/list", ""))
		if line := c.answer("3"); !gjson.Get(line, "result.ttlMs").Exists() {
			t.Error(line)
		}
		c.send(strings.Split(hello("2025-11-25"), "\n")[0])
		if line := c.answer("0"); gjson.Get(line, "error.code").Int() != -32600 {
			t.Errorf("second initialize: %s", line)
		}
	})
}

// TestInitializeWithAProbeUnanswered sends both at once: whichever the SDK takes first.
func TestInitializeWithAProbeUnanswered(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		for i := range 50 {
			c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}})
			version := []string{"2024-11-05", "2025-06-18"}[i%2]
			c.send(modern(`"probe"`, "server/discover", ""), modern(`"list"`, "tools/list", ""), hello(version))
			c.answer(`"probe"`)
			c.answer(`"list"`)
			if line := c.answer("0"); gjson.Get(line, "result.protocolVersion").Str != version {
				t.Fatal(line)
			}
			c.send(call("1", "echo", `{"a":1}`))
			c.answer("1")
		}
	})
}

func TestRevisionsAgreedTo(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		for asked, want := range map[string]string{"2024-11-05": "2024-11-05", "2025-11-25": "2025-11-25", "2026-07-28": "2025-11-25", "2099-01-01": "2025-11-25", "": "2025-11-25"} {
			for _, probe := range []bool{false, true} {
				c := over.serve(t, mcpserver.Config{Name: "s"})
				if probe {
					c.send(modern("1", "server/discover", ""))
					c.answer("1")
				}
				c.send(hello(asked))
				if line := c.answer("0"); gjson.Get(line, "result.protocolVersion").Str != want {
					t.Errorf("%q, probe %v: %s", asked, probe, line)
				}
			}
		}
	})
}

func TestWhatCameIsRepeatedShort(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		long := strings.Repeat("x", 1_000_000)
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}, Resources: library()})
		c.send(hello("2025-11-25"))
		c.answer("0")
		for _, tc := range []struct {
			line string
			code int64
			want string
		}{
			{call("1", long, "{}"), -32602, "Unknown tool"},
			{legacy("1", "resources/read", `"uri":"`+long+`"`), -32602, "Unknown resource"},
			{legacy("1", long, ""), -32601, long[:100]},
			{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"` + long + `"}`, -32602, "The params of tools/call "},
			{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, -32602, ": name "},
			{`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, -32602, "The params of tools/call are missing"},
			{`{"jsonrpc":"2.0","id":1,"method":"ping","params":5}`, -32602, "The params of ping "},
		} {
			c.send(tc.line)
			line := c.answer("1")
			if message := gjson.Get(line, "error.message").Str; len(line) > 2000 || !strings.Contains(message, tc.want) || strings.ContainsAny(message, "*") {
				t.Errorf("%.100s: %d bytes: %.300s", tc.line, len(line), line)
			}
			if code := gjson.Get(line, "error.code").Int(); code != tc.code && fmt.Sprint(code) != "-32002" {
				t.Errorf("%.100s: %.300s", tc.line, line)
			}
		}
	})
}

// TestOrderlySessionLogsNothing holds that neither a probe nor requests without params are an incident.
func TestOrderlySessionLogsNothing(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		var log strings.Builder
		s := mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))}
		c := over.serve(t, s)
		c.send(modern(`"probe"`, "server/discover", ""))
		c.answer(`"probe"`)
		c.send(hello("2025-11-25"), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		c.answer("1")
		c.answer("2")
		c.eof()
		_ = c.rest()
		if err := c.result(); err != nil || log.Len() > 0 {
			t.Errorf("%v, logged: %s", err, log.String())
		}
	})
}
