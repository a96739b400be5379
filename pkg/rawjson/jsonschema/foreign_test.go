package jsonschema

import (
	"encoding/json"
	"testing"
)

const orders = `{"type":"object","properties":{
	"filter":{"$ref":"#/$defs/Filter"},
	"tags":{"type":"array","items":{"type":"string"}},
	"a.b":{"type":"integer"},
	"choice":{"anyOf":[{"type":"integer"},{"type":"object","properties":{"mode":{"enum":["on","off"]}},"required":["mode"]}]}},
	"$defs":{"Filter":{"type":"object","additionalProperties":false,"required":["state"],
		"properties":{"state":{"enum":["open","closed"]},"labels":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"}}}}}}}}`

func TestCheckMember(t *testing.T) {
	s := CompileForeign(json.RawMessage(orders))
	if s == nil {
		t.Fatal("the schema is not usable")
	}
	for _, c := range []struct {
		name, value, path string
		depends           bool
	}{
		{"filter", `{"state":"open","labels":[{"id":1}]}`, "", false},
		{"filter", `{"state":"opne"}`, "filter.state", false},
		{"filter", `{"state":"${x}"}`, "filter.state", true},
		{"filter", `{"state":"open","labels":[{"id":1},{"id":"two"}]}`, "filter.labels[1].id", false},
		{"filter", `{"state":"open","labels":"${x}"}`, "filter.labels", true},
		{"filter", `{"state":"open","lables":[]}`, "filter", false},
		{"filter", `{"labels":[{"id":"${x}"}]}`, "filter.labels[0].id", true},
		{"filter", `"${x}"`, "filter", true},
		{"filter", `[1]`, "filter", false},
		{"tags", `["a",1]`, "tags[1]", false},
		{"a.b", `"x"`, `["a.b"]`, false},
		{"choice", `{"mode":"${x}"}`, "choice", true},
		{"choice", `{"mode":"on"}`, "", false},
		{"choice", `true`, "choice", false},
		{"unknown", `1`, "", false},
	} {
		v := s.CheckMember(c.name, json.RawMessage(c.value))
		switch {
		case v == nil && c.path != "":
			t.Errorf("%s: %s fits", c.name, c.value)
		case v != nil && c.path == "":
			t.Errorf("%s: %s: %v", c.name, c.value, v)
		case v != nil && (len(v.Path) < len(c.path) || v.Path[:len(c.path)] != c.path) && c.name != "choice":
			t.Errorf("%s: %s: at %s, want %s", c.name, c.value, v.Path, c.path)
		case v != nil && v.DependsOn("${") != c.depends:
			t.Errorf("%s: %s: %v depends on the template: %v", c.name, c.value, v, !c.depends)
		}
	}
}

func TestForeignDialects(t *testing.T) {
	for schema, usable := range map[string]bool{
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object"}`: true,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`:      true,
		`{"$schema":"urn:own","type":"object"}`:                                      true,
		`{"type":"object","properties":{"a":{"exclusiveMinimum":true}}}`:             false,
		`{"properties":{"a":{"type":"string","pattern":"(?!x)"}}}`:                   false,
		`{"$ref":"#"}`: false,
		`[]`:           false,
		``:             false,
	} {
		if s := CompileForeign(json.RawMessage(schema)); (s != nil) != usable {
			t.Errorf("%s: usable %v", schema, s != nil)
		}
	}
	for schema, extra := range map[string]bool{
		`{"properties":{"a":{}}}`: false, `{"additionalProperties":false}`: false, `{"additionalProperties":true}`: true,
		`{"additionalProperties":{"type":"string"}}`: true, `{"patternProperties":{"^x":{}}}`: true,
	} {
		if TakesMore(json.RawMessage(schema), true) != extra {
			t.Errorf("%s: %v", schema, !extra)
		}
	}
}
