package check

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// resultTypes has tools with nested results.
type resultTypes struct{ types }

func (resultTypes) Type(name string) (nodetype.Type, bool, error) {
	schema := map[string]string{
		"mcp-s-deep": `{"type":"object","properties":{
			"user":{"$ref":"#/$defs/User"},"list":{"type":"array","items":{"$ref":"#/$defs/User"}},
			"pair":{"type":"array","prefixItems":[{"type":"integer"},{"type":"object","properties":{"a":{"type":"boolean"}}}]},
			"maybe":{"anyOf":[{"type":"object"},{"type":"null"}]},"loop":{"$ref":"#/$defs/Loop"}},
			"$defs":{"User":{"type":"object","additionalProperties":false,"properties":{"name":{"type":"string"},"age":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},"more":{"type":"object"}}},
				"Loop":{"type":"object","properties":{"next":{"$ref":"#/$defs/Loop"},"n":{"type":"integer"}}}}}`,
		"mcp-s-open": `{"type":"object","additionalProperties":true,"properties":{
			"inner":{"type":"object","properties":{"city":{"type":"string"}}},"free":{"type":"object","patternProperties":{"^x":{}},"properties":{"a":{}}}}}`,
		"mcp-s-none":    `{"type":"object"}`,
		"mcp-s-wrapped": `{"type":"object","properties":{"result":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}}}}`,
	}[name]
	if schema == "" {
		return types{}.Type(name)
	}
	return nodetype.Type{
		Name: name, Actions: []string{"default", "error"}, ExtraOutputs: true, Outputs: []nodetype.Output{{Name: "result", Type: "any"}, {Name: "error", Type: "str"}},
		MCP: &nodetype.MCP{Server: "s", Tool: "t", OutputSchema: json.RawMessage(schema)},
	}, true, nil
}

func TestToolResults(t *testing.T) {
	for _, c := range []struct {
		tool, read string
		// want is false if the reference is an error.
		want bool
	}{
		{"deep", "result.user.name", true},
		{"deep", "user.name", true},
		{"deep", "user.nmae", false},
		{"deep", `user.nmae ?? "x"`, true}, // it may be another result
		{"deep", "user.name.first", true},  // a text may be JSON
		{"deep", "user.age.years", false},
		{"deep", "result.user.age[0]", false},
		{"deep", "user[0]", false},
		{"deep", "user.tags.first", false},
		{"deep", "user.tags[0]", true},
		{"deep", "user.more.anything.at.all", true},
		{"deep", "list[0].age", true},
		{"deep", "list[0].age.years", false},
		{"deep", "list.age", false},
		{"deep", "list[0].size", false},
		{"deep", "pair[0].x", false},
		{"deep", "pair[1].a", true},
		{"deep", "pair[1].a.b", false},
		{"deep", "pair[2].a", true},
		{"deep", "maybe.a.b", true},
		{"deep", "loop.next.next.next.n", true},
		{"deep", "loop.next.next.next.n.x", false},
		{"deep", "other.a", true}, // the schema does not forbid it
		{"wrapped", "result[0].n", true},
		{"wrapped", "result[0].n.x", false},
		{"wrapped", "result.n", false},
	} {
		read := "${t." + c.read + "}"
		source, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		f, err := workflow.Parse("w.json", []byte(`{"nodes":[{"id":"t","type":"mcp-s-`+c.tool+`"},{"id":"b","type":"echo","params":{"data":`+string(source)+`}}],"edges":[{"from":"t","to":"b"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		errs := Workflow(f, resultTypes{}, load).Errors
		if ok := len(errs) == 0; ok != c.want {
			t.Errorf("%s: %v", read, errs)
		}
	}
}

// A part of a result has its type where a value of another type is needed.
func TestToolResultsFitOutputs(t *testing.T) {
	for source, want := range map[string][]string{
		"${t.user.age}": nil, "${t.user.tags}": {"outputs.o.type"}, "${t.user}": {"outputs.o.type"}, "${t.user.more.x}": nil, "${t.list[0].tags}": {"outputs.o.type"},
	} {
		f, err := workflow.Parse("w.json", []byte(`{"nodes":[{"id":"t","type":"mcp-s-deep"}],"outputs":{"o":{"type":"integer","source":"`+source+`"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range Workflow(f, resultTypes{}, load).Errors {
			got = append(got, e.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: errors at %q", source, got)
		}
	}
}

// A name that a schema does not list is a warning, with the name that is meant, unless the schema says that there may be others.
func TestToolResultsWithUnlistedNames(t *testing.T) {
	for read, want := range map[string]string{
		"${deep.rezult}": "${deep.result}", "${deep.usr.name}": "${deep.user.name}", "${deep.result.usr.name}": "${deep.result.user.name}",
		"${deep.loop.next.nn}": "${deep.loop.next.n}", "${open.result.inner.ciity}": "${open.result.inner.city}", "${open.inner.ciity}": "${open.inner.city}",
		"${wrapped.reslt}": "${wrapped.result}", "${wrapped.result[0].nn}": "${wrapped.result[0].n}", "${deep.resource_link}": "${deep.resource_links}",
		"${deep.result}": "", "${deep.error}": "", "${deep.content}": "", "${deep.resource_links[0].uri}": "", "${deep.user.more.x}": "", "${deep.maybe.x}": "",
		`${deep.rezult ?? "x"}`: "", "${open.ohter}": "", "${open.result.ohter}": "", "${open.free.xa}": "", "${none.anything}": "", "${wrapped.result}": "",
	} {
		source, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		f, err := workflow.Parse("w.json", []byte(`{"nodes":[{"id":"deep","type":"mcp-s-deep"},{"id":"open","type":"mcp-s-open"},{"id":"none","type":"mcp-s-none"},{"id":"wrapped","type":"mcp-s-wrapped"},
			{"id":"b","type":"echo","params":{"data":`+string(source)+`}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		report := Workflow(f, resultTypes{}, load)
		var got []string
		for _, w := range report.Warnings {
			if w.Path == "nodes[4].params.data" {
				got = append(got, w.Suggestions...)
			}
		}
		if len(report.Errors) > 0 || (len(got) == 1) != (want != "") || want != "" && got[0] != "Did you mean "+want+"?" {
			t.Errorf("%s: errors %v, suggestions %q, want %q", read, report.Errors, got, want)
		}
	}
}
