package mcpserver_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

func TestHints(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		of := map[string]time.Duration{"tools/list": time.Hour, "resources/list": time.Second, "resources/templates/list": 1500 * time.Microsecond, "server/discover": -time.Second}
		hinted := mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}, Resources: library(), CachePolicy: func(method string) (time.Duration, bool) {
			ttl, ok := of[method]
			if !ok {
				t.Errorf("asked for %s", method)
			}
			return ttl, method == "tools/list"
		}}
		silent := mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}, Resources: library()}
		for method, want := range map[string]string{"tools/list": "3600000 private", "resources/list": "1000 public", "resources/templates/list": "1 public", "server/discover": "0 public"} {
			for _, tc := range []struct {
				server mcpserver.Config
				want   string
			}{{hinted, want}, {silent, "0 public"}} {
				c := over.serve(t, tc.server)
				c.send(modern("1", method, ""))
				line := c.answer("1")
				if got := gjson.Get(line, "result.ttlMs").Raw + " " + gjson.Get(line, "result.cacheScope").Str; got != tc.want {
					t.Errorf("%s: %s, want %s: %s", method, got, tc.want, line)
				}
			}
		}
		c := over.serve(t, hinted)
		c.send(modern("1", "resources/read", `"uri":"lib://books/1",`)) // the Hint is not for this
		if line := c.answer("1"); gjson.Get(line, "result.ttlMs").Raw != "0" {
			t.Error(line)
		}
	})
}

func TestOlderRevisionsHaveNoHints(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		ask := func(string) (time.Duration, bool) {
			t.Error("asked for a hint")
			return time.Hour, true
		}
		own := mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}, Resources: library(), CachePolicy: ask}
		anyURI := mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}, Resources: library(), Read: shelf, CachePolicy: ask}
		for _, s := range []mcpserver.Config{own, anyURI} {
			for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "odd"} {
				c := over.serve(t, s)
				c.send(hello(version))
				for _, tc := range []struct{ method, params, member string }{
					{"tools/list", "", "tools"}, {"resources/list", "", "resources"}, {"resources/templates/list", "", "resourceTemplates"},
					{"prompts/list", "", "prompts"}, {"resources/read", `"uri":"lib://books/1"`, "contents"},
				} {
					requests := []string{legacy("1", tc.method, tc.params)}
					if tc.params == "" {
						requests = append(requests, `{"jsonrpc":"2.0","id":1,"method":"`+tc.method+`"}`)
					}
					for _, request := range requests {
						c.send(request)
						line := c.answer("1")
						if members := gjson.Get(line, "result").Map(); len(members) != 1 || !members[tc.member].IsArray() {
							t.Errorf("%s, %s: %s", version, request, line)
						}
					}
				}
			}
		}
	})
}

func TestSummaryStandsForWhatIsStructured(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		const full = `{"rows":[1,2]}`
		answer := func(name string, r mcpserver.Result) mcpserver.Tool {
			return tool(name, func(context.Context, *mcpserver.Call) *mcpserver.Result { return &r })
		}
		strict := answer("strict", mcpserver.Result{Structured: json.RawMessage(full), Summary: "it failed", IsError: true})
		strict.OutputSchema = json.RawMessage(`{"type":"object","required":["columns"]}`)
		s := mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{
			answer("both", mcpserver.Result{Structured: json.RawMessage(full), Summary: "2 rows"}),
			answer("text", mcpserver.Result{Structured: json.RawMessage(full), Summary: "2 rows", Text: "1\n2"}),
			answer("plain", mcpserver.Result{Structured: json.RawMessage(full)}),
			answer("bare", mcpserver.Result{Summary: "2 rows"}),
			strict,
		}}
		const quoted = `"{\"rows\":[1,2]}"`
		for _, tc := range []struct{ tool, since, before string }{
			{"both", `["2 rows",` + full + `]`, `[` + quoted + `,null]`},
			{"text", `["2 rows",` + full + `]`, `["1\n2",null]`},
			{"plain", `[` + quoted + `,` + full + `]`, `[` + quoted + `,` + full + `]`},
			{"bare", `["2 rows",null]`, `["2 rows",null]`},
			{"strict", `[` + quoted + `,null]`, `[` + quoted + `,null]`},
		} {
			for version, want := range map[string]string{"2024-11-05": tc.before, "2025-03-26": tc.before, "2025-06-18": tc.since, "2025-11-25": tc.since, "1.0": tc.since} {
				c := over.serve(t, s)
				c.send(hello(version), call("1", tc.tool, "{}"))
				if got := textAndStructured(c.answer("1")); got != want {
					t.Errorf("%s in %s: %s, want %s", tc.tool, version, got, want)
				}
			}
			c := over.serve(t, s)
			c.send(modern("1", "tools/call", `"name":"`+tc.tool+`",`))
			if got := textAndStructured(c.answer("1")); got != tc.since {
				t.Errorf("%s, stateless: %s, want %s", tc.tool, got, tc.since)
			}
		}
	})
}

// textAndStructured is both in a list, null for structured content that is not there.
func textAndStructured(line string) string {
	structured := gjson.Get(line, "result.structuredContent").Raw
	if structured == "" {
		structured = "null"
	}
	return `[` + gjson.Get(line, "result.content.0.text").Raw + `,` + structured + `]`
}
