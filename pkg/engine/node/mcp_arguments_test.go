package node

import (
	"encoding/json"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// The arguments of a tool are checked by its whole schema once the templates are resolved, before its server is needed.
func TestToolArguments(t *testing.T) {
	kind := mcpclient.NodeType("s", mcpclient.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object","properties":{
		"n":{"type":"integer","maximum":9},"filter":{"type":"object","properties":{"state":{"enum":["open","closed"]},"ids":{"type":"array","items":{"type":"integer"}}}},
		"maybe":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["filter"],"anyOf":[{"required":["n"]},{"required":["maybe"]}]}`)})
	for _, c := range []struct{ params, want, path string }{
		{`{"n":"${v}","filter":{"state":"open","ids":[1,"${v}"]},"maybe":null}`, `{"filter":{"state":"open","ids":[1,7]},"maybe":null,"n":7}`, ""},
		{`{"n":null,"filter":{},"maybe":"x"}`, `{"filter":{},"maybe":"x"}`, ""}, // its schema does not allow null
		{`{"n":10,"filter":{}}`, "", "params.n"},
		{`{"n":1,"filter":{"state":"${word}"}}`, "", "params.filter.state"},
		{`{"n":1,"filter":{"state":"open","ids":[1,"${word}"]}}`, "", "params.filter.ids[1]"},
		{`{"n":1,"filter":null}`, "", "params.filter"},
		{`{"filter":{}}`, "", "params"},
	} {
		n := &workflow.Node{ID: "n", Type: kind.Name, Params: json.RawMessage(c.params)}
		p, err := Prepare(n, kind, &Binding{Scope: values{"v": `7`, "word": `"opne"`}.scope, Known: func(string) bool { return true }})
		f := fault.From(err)
		switch {
		case c.path == "" && (f != nil || string(p.Params) != c.want):
			t.Errorf("%s: %v, %s", c.params, f, p.Params)
		case c.path != "" && (f == nil || f.Type != fault.Execution || f.Path != c.path || f.Node != "n"):
			t.Errorf("%s: %+v, want the path %s", c.params, f, c.path)
		}
	}
	odd := mcpclient.NodeType("s", mcpclient.Tool{Name: "t", InputSchema: json.RawMessage(`{"properties":{"a":{"exclusiveMinimum":true}}}`)})
	if _, err := Prepare(&workflow.Node{ID: "n", Params: json.RawMessage(`{"a":1}`)}, odd, &Binding{Scope: values{}.scope, Known: func(string) bool { return false }}); err != nil {
		t.Errorf("a schema that cannot be used: %v", err)
	}
}
