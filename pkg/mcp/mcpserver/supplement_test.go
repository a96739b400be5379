package mcpserver_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// TestSupplementIsForOldClients: what the text leaves out is a second text for a client without structured content, and sent once to
// all others.
func TestSupplementIsForOldClients(t *testing.T) {
	for revision, want := range map[string]string{
		"2024-11-05": `["[1]","1 of 2"]`, "2025-03-26": `["[1]","1 of 2"]`, "2025-06-18": `["[1]"]`, "2025-11-25": `["[1]"]`,
	} {
		overBoth(t, func(t *testing.T, over connect) {
			page := tool("page", func(context.Context, *mcpserver.Call) *mcpserver.Result {
				return &mcpserver.Result{Structured: json.RawMessage(`{"list":[1],"total":2}`), Text: "[1]", Supplement: "1 of 2"}
			})
			c := over(t, newServer(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{page}}))
			c.send(hello(revision))
			c.answer("0")
			c.send(call("9", "page", "{}"))
			if got := gjson.Get(c.answer("9"), "result.content.#.text").Raw; got != want {
				t.Errorf("%s: %s, not %s", revision, got, want)
			}
		})
	}
}
