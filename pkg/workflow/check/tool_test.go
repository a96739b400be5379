package check

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// toolTypes has one tool with a nested schema.
type toolTypes struct{ types }

func (toolTypes) Type(name string) (nodetype.Type, bool, error) {
	if name != "mcp-s-t" {
		return types{}.Type(name)
	}
	return nodetype.Type{
		Name: name, Actions: []string{"default", "error"},
		Params:  []nodetype.Param{{Name: "filter", Type: "dict"}, {Name: "n", Type: "int"}, {Name: "tags", Type: "list"}, {Name: "maybe", Type: "any"}},
		Outputs: []nodetype.Output{{Name: "result", Type: "dict"}, {Name: "error", Type: "str"}, {Name: "count", Type: "int"}},
		MCP: &nodetype.MCP{Server: "s", Tool: "t", OriginalSchema: json.RawMessage(`{"type":"object","properties":{
			"filter":{"$ref":"#/$defs/Filter"},"n":{"type":"integer","maximum":9},"tags":{"type":"array","items":{"type":"string"}},
			"maybe":{"anyOf":[{"type":"string"},{"type":"null"}]}},
			"$defs":{"Filter":{"type":"object","additionalProperties":false,"properties":{"state":{"enum":["open","closed"]},"limit":{"type":"integer"}}}},
			"oneOf":[{"required":["n"]},{"required":["tags"]}]}`)},
	}, true, nil
}

func TestToolArguments(t *testing.T) {
	for params, want := range map[string][]string{
		`{"n":1,"filter":{"state":"open"}}`:                            nil,
		`{"n":"7","maybe":null}`:                                       nil,
		`{"n":10}`:                                                     {"nodes[1].params.n"},
		`{"n":1,"filter":{"state":"opne"}}`:                            {"nodes[1].params.filter.state"},
		`{"n":1,"filter":{"sate":"open"}}`:                             {"nodes[1].params.filter"},
		`{"n":1,"filter":{"state":"${a.echo}","limit":"many"}}`:        {"nodes[1].params.filter.limit"},
		`{"n":1,"filter":{"state":"${a.echo}","limit":3}}`:             nil,
		`{"n":1,"filter":"${a.data}"}`:                                 nil,
		`{"n":"${a.data}","filter":{"limit":"x"}}`:                     {"nodes[1].params.filter.limit"},
		`{"tags":["a",1]}`:                                             {"nodes[1].params.tags[1]"},
		`{"filter":{}}`:                                                {"nodes[1].params"},
		`{"n":1,"tags":["a"]}`:                                         {"nodes[1].params"},
		`{"n":1,"tags":["${a.echo}"]}`:                                 nil, // only the run shows it
		`{"n":"many"}`:                                                 {"nodes[1].params.n"},
		`{"n":1,"other":1}`:                                            {"nodes[1].params.other"},
		`{"n":1,"timeout":5}`:                                          nil,
		`{"n":1,"filter":{"state":"open"},"inputs":{"x":"${a.echo}"}}`: nil,
	} {
		f, err := workflow.Parse("w.json", []byte(`{"nodes":[{"id":"a","type":"echo"},{"id":"b","type":"mcp-s-t","params":`+params+`}],"edges":[{"from":"a","to":"b"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range Workflow(f, toolTypes{}, load).Errors {
			got = append(got, e.Path)
			if e.Node != "b" || e.Line == 0 {
				t.Errorf("%s: %+v", params, e)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: errors at %v, want %v", params, got, want)
		}
	}
}
