package mcpclient

import (
	"encoding/json"
	"testing"
)

func TestUnwrap(t *testing.T) {
	for name, c := range map[string]struct{ schema, structured, want, typ string }{
		"a scalar":            {`{"type":"object","properties":{"result":{"type":"string"}},"required":["result"]}`, `{"result":"done"}`, `"done"`, "str"},
		"a number as written": {`{"properties":{"result":{"type":"number"}}}`, `{"result":1.10}`, `1.10`, "float"},
		"null":                {`{"properties":{"result":{"type":"null"}}}`, `{"result":null}`, `null`, "any"},
		"a list":              {`{"properties":{"result":{"type":"array"}}}`, `{"result":[1]}`, `[1]`, "list"},
		"a choice":            {`{"properties":{"result":{"anyOf":[{"type":"object"},{"type":"null"}]}}}`, `{"result":{"a":1}}`, `{"a":1}`, "any"},
		"a word of a list":    {`{"properties":{"result":{"$ref":"#/$defs/Color"}},"$defs":{"Color":{"enum":["red"],"type":"string"}}}`, `{"result":"red"}`, `"red"`, "str"},
		"an object":           {`{"properties":{"result":{"type":"object"}}}`, `{"result":{"a":1}}`, `{"result":{"a":1}}`, "dict"},
		"an object elsewhere": {`{"properties":{"result":{"$ref":"#/$defs/M"}},"$defs":{"M":{"type":"object"}}}`, `{"result":{"a":1}}`, `{"result":{"a":1}}`, "dict"},
		"a marked object":     {`{"properties":{"result":{"type":"object"}},"x-fastmcp-wrap-result":true}`, `{"result":{"a":1}}`, `{"a":1}`, "dict"},
		"a circle":            {`{"properties":{"result":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/A"}}}`, `{"result":1}`, `1`, "any"},
		"two properties":      {`{"properties":{"result":{"type":"string"},"more":{}}}`, `{"result":"done"}`, `{"result":"done"}`, "dict"},
		"another property":    {`{"properties":{"value":{"type":"string"}}}`, `{"value":"done"}`, `{"value":"done"}`, "dict"},
		"more than it says":   {`{"properties":{"result":{"type":"string"}}}`, `{"result":"done","more":1}`, `{"result":"done","more":1}`, "str"},
		"no such field":       {`{"properties":{"result":{"type":"string"}}}`, `{}`, `{}`, "str"},
		"no properties":       {`{"type":"object"}`, `{"result":1}`, `{"result":1}`, "dict"},
		"no schema":           {``, `{"result":1}`, `{"result":1}`, "any"},
		"garbage":             {`[1]`, `{"result":1}`, `{"result":1}`, "dict"},
	} {
		var schema json.RawMessage
		if c.schema != "" {
			schema = json.RawMessage(c.schema)
		}
		if got := string(Unwrap(schema, json.RawMessage(c.structured))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if typ := NodeType("s", Tool{Name: "t", OutputSchema: schema}).Outputs[0].Type; typ != c.typ {
			t.Errorf("%s: result is of type %s, want %s", name, typ, c.typ)
		}
	}
}

func TestBinaryOf(t *testing.T) {
	for block, want := range map[string]string{
		`{"type":"image","mimeType":"image/png","data":"eA=="}`:                                           `"eA==" image/png`,
		`{ "type":"audio", "data" : "eA==" }`:                                                             `"eA==" application/octet-stream`,
		`{"type":"resource","resource":{"uri":"a:b","mimeType":"application/json","blob":"eA=="}}`:        `"eA==" application/json`,
		`{"type":"resource","resource":{"uri":"a:b","text":"x"}}`:                                         "",
		`{"type":"image","mimeType":"no type","data":"eA=="}`:                                             `"eA==" application/octet-stream`,
		`{"type":"image","data":7}`:                                                                       "",
		`{"type":"text","data":"eA==","text":"{\"type\":\"image\",\"data\":\"eA==\"}"}`:                   "",
		`{"type":"resource_link","uri":"x:y","data":"eA=="}`:                                              "",
		`{"type":"resource","_meta":{"resource":{"blob":"bm8="}},"resource":{"blob":"eA==","uri":"x:y"}}`: `"eA==" application/octet-stream`,
	} {
		got := ""
		if b, ok := BinaryOf(json.RawMessage(block)); ok {
			got = block[b.Start:b.End] + " " + b.MIMEType
		}
		if got != want {
			t.Errorf("%s: %q, want %q", block, got, want)
		}
	}
}
