package suite

import (
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

func TestWhatACallCarriesReplacesThatOfTheServer(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	env := []string{"TRACEPARENT=of the server", "A=1", "TRACESTATE=of the server", "BAGGAGE=b=1"}
	for name, c := range map[string]struct {
		meta map[string]any
		want []string
	}{
		"nothing":         {nil, env},
		"a parent":        {map[string]any{"traceparent": parent}, []string{"A=1", "BAGGAGE=b=1", "TRACEPARENT=" + parent}},
		"everything":      {map[string]any{"traceparent": parent, "tracestate": "v=1", "baggage": "user=ada"}, []string{"A=1", "TRACEPARENT=" + parent, "TRACESTATE=v=1", "BAGGAGE=user=ada"}},
		"baggage alone":   {map[string]any{"baggage": "user=ada"}, []string{"TRACEPARENT=of the server", "A=1", "TRACESTATE=of the server", "BAGGAGE=user=ada"}},
		"not a text":      {map[string]any{"traceparent": 5, "baggage": []any{}}, env},
		"another line":    {map[string]any{"traceparent": parent + "\nA=2", "baggage": "a\x00"}, env},
		"too much":        {map[string]any{"baggage": strings.Repeat("x", 8193), "traceparent": strings.Repeat("0", 257)}, env},
		"runs around it":  {map[string]any{"pflow/runs": "r1,r2"}, append(slices.Clone(env), "PFLOW_RUNS=r1,r2")},
		"nothing in them": {map[string]any{"traceparent": "", "baggage": ""}, env},
	} {
		if got := calledBy(env, CallerOf(&mcpserver.Call{Meta: c.meta})); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
