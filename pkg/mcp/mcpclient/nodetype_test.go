package mcpclient

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

func TestNodeType(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","required":["title"],"properties":{
		"title":{"type":"string","description":"the title"},"count":{"type":"integer","default":10},"ratio":{"type":"number"},
		"draft":{"type":"boolean"},"labels":{"type":"array"},"meta":{"type":"object"},"kind":{"enum":["a","b"]},
		"maybe":{"type":["integer","null"]},"either":{"anyOf":[{"type":"string"}]},"ref":{"$ref":"#/$defs/x"}}}`)
	got := NodeType("github", Tool{
		Name: "Create Issue", Description: " Create a GitHub issue ", InputSchema: schema,
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"issue_url":{"type":"string"},"result":{"type":"integer"}}}`),
	})
	want := nodetype.Type{
		Name: "mcp-github-create-issue", Description: "Create a GitHub issue", Actions: []string{"default", "error"}, ExtraOutputs: true,
		Params: []nodetype.Param{
			{Name: "title", Type: "str", Description: "the title", Required: true},
			{Name: "count", Type: "int", Default: json.RawMessage("10")},
			{Name: "ratio", Type: "float"}, {Name: "draft", Type: "bool"}, {Name: "labels", Type: "list"}, {Name: "meta", Type: "dict"},
			{Name: "kind", Type: "any", Enum: json.RawMessage(`["a","b"]`)},
			{Name: "maybe", Type: "any"}, {Name: "either", Type: "any"}, {Name: "ref", Type: "any"},
		},
		Outputs: []nodetype.Output{
			{Name: "result", Type: "dict", Description: "the whole result of the tool"},
			{Name: "error", Type: "str", Description: "why it failed, or null"},
			{Name: "issue_url", Type: "str"},
		},
		MCP: &nodetype.MCP{
			Server: "github", Tool: "Create Issue", OriginalSchema: schema,
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"issue_url":{"type":"string"},"result":{"type":"integer"}}}`),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNodeTypeNames(t *testing.T) {
	for tool, want := range map[string]string{
		"list_issues": "mcp-s-list-issues", "Ünï code!": "mcp-s-n-code", "a.b/c": "mcp-s-a-b-c",
	} {
		if got := NodeType("s", Tool{Name: tool}).Name; got != want {
			t.Errorf("%q is %s, want %s", tool, got, want)
		}
	}
	for _, tool := range []string{"検索", "削除", strings.Repeat("long-", 40)} {
		got := NodeType("s", Tool{Name: tool}).Name
		if len(got) > home.MaxType || !strings.HasPrefix(got, "mcp-s-") || strings.HasSuffix(got, "-") {
			t.Errorf("%q is %q", tool, got)
		}
	}
	if NodeType("s", Tool{Name: "検索"}).Name == NodeType("s", Tool{Name: "削除"}).Name {
		t.Error("two tools without a letter of their own share a name")
	}
}

func TestResult(t *testing.T) {
	for result, want := range map[string]string{
		`{"content":[]}`: `null`,
		`{"content":[{"type":"text","text":"plain"}]}`:                                            `"plain"`,
		`{"content":[{"type":"text","text":"42"}]}`:                                               `"42"`,
		`{"content":[{"type":"text","text":" {\"n\":1.10} "}]}`:                                   `{"n":1.10}`,
		`{"content":[{"type":"text","text":"[1,"}]}`:                                              `"[1,"`,
		`{"content":[{"type":"resource_link","uri":"x:y"}]}`:                                      `{"type":"resource_link","uri":"x:y"}`,
		`{"content":[{"type":"text","text":"a"},{"type":"audio","data":""}]}`:                     `["a",{"type":"audio","data":""}]`,
		`{"structuredContent":{"a":1e2},"content":[{"type":"text","text":"{\"a\":100}"}]}`:        `{"a":1e2}`,
		`{"structuredContent":null,"content":[{"type":"text","text":"t"}]}`:                       `"t"`,
		`{"isError":true,"structuredContent":[1],"content":[{"type":"text","text":"bad thing"}]}`: `[1]`,
	} {
		a := parseAnswer(json.RawMessage(result))
		if got := string(a.Result(nil)); got != want {
			t.Errorf("%s gives %s, want %s", result, got, want)
		}
		if a.IsError != strings.Contains(result, "isError") || a.IsError != (a.Failure("s", "t") != nil) {
			t.Errorf("%s: IsError is %v", result, a.IsError)
		}
	}
}
