package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestListsAreTheSameForEveryone: what a server lists is the same bytes in each connection of revision 2026-07-28, before and
// after calls, whatever the client says about itself, and the tools are sorted by name.
func TestListsAreTheSameForEveryone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("greet", chain("echo hello"))
	list := func(c *client, method, capabilities string) string {
		c.Helper()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`, method, capabilities))
		line, err := c.stdout.ReadString('\n')
		if err != nil || !gjson.Get(line, "result").Exists() {
			c.Fatalf("%s: %s %v", method, line, err)
		}
		return line
	}
	one, other := p.connect("pflow-serve", "--toolsets", "core,drafts,servers,veloflux"), p.connect("pflow-serve", "--toolsets", "veloflux,servers,drafts,core")
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		first := list(one, method, `{}`)
		for _, call := range [][2]string{{"execute", `{"name":"greet"}`}, {"write_draft", `{"name":"new","content":"{}"}`}, {"list_servers", `{}`}} {
			one.call(call[0], call[1])
		}
		again, elsewhere := list(one, method, `{"roots":{},"sampling":{}}`), list(other, method, `{"elicitation":{}}`)
		if first != again || first != elsewhere {
			t.Errorf("%s:\n%s\n%s\n%s", method, first, again, elsewhere)
		}
		var names []string
		for _, tool := range gjson.Get(first, "result.tools").Array() {
			names = append(names, tool.Get("name").Str)
		}
		if !slices.IsSorted(names) || method == "tools/list" && !strings.Contains(strings.Join(names, " "), "call_server_tool check_draft") {
			t.Errorf("the tools are %q", names)
		}
	}
	one.leave()
	other.leave()
}
