package definitions

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// input returns the input schema of a tool that takes the arguments, as JSON, or nil for none.
func (g *generator) input(arguments object) json.RawMessage {
	switch of := g.IntN(100); {
	case of < 12:
		g.broken = true
		return g.brokenSchema()
	case of < 15:
		return g.large(arguments)
	}
	var root object
	switch g.IntN(10) {
	case 0:
		root, _ = g.reference(g.ofObject(arguments, 4)).(object)
	case 1:
		root = object{"allOf": list{g.ofObject(arguments, 4), object{"type": "object"}}}
	case 2:
		root = object{"anyOf": list{g.other(), g.ofObject(arguments, 4)}, "type": "object"}
	case 3:
		root = object{"type": "object"}
	default:
		root = g.ofObject(arguments, 4)
	}
	maps.Copy(root, g.defs)
	if g.dialect != "" {
		root["$schema"] = g.dialect
	}
	switch g.IntN(10) {
	case 0:
		root["$id"] = "https://example.com/schema.json"
	case 1:
		root["id"] = "http://example.com/schema#"
	}
	return encode(g.annotated(root))
}

// brokenSchema returns what a server may send that is no schema, or one that cannot be followed. It says nothing about arguments.
func (g *generator) brokenSchema() json.RawMessage {
	text := g.pick([]string{
		"", "null", "true", "7", `"object"`, "[]", `[{"type":"object"}]`,
		`{"$ref":"#"}`, `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `{"allOf":[{"$ref":"#"}]}`, `{"type":"object","anyOf":[{"not":{"$ref":"#"}}]}`,
		`{"$ref":"https://127.0.0.1:1/schema.json"}`, `{"type":"object","properties":{"a?":{"$ref":"file:///etc/passwd"}}}`, `{"$ref":"other.json#/a"}`, `{"$ref":"#/nowhere"}`, `{"$ref":"#anchor"}`, `{"$ref":7}`,
		`{"type":"array","items":{"type":"string"}}`, `{"type":["array","null"]}`, `{"type":"string"}`, `{"type":"any"}`, `{"type":7}`, `{"type":"Object"}`, `{"type":[]}`, `{"type":null}`,
		`{"type":"object","properties":[]}`, `{"type":"object","properties":"x"}`, `{"type":"object","properties":{"a?":7,"b":"string","c":null}}`, `{"type":"object","properties":null,"required":null}`,
		`{"type":"object","required":"a"}`, `{"type":"object","properties":{"a?":{"type":"string","required":true}}}`, `{"type":"object","required":[7,null]}`, `{"type":"object","additionalProperties":"yes"}`,
		`{"type":"object","properties":{"a?":{"enum":[]}},"x":{}}`, `{"type":"object","properties":{"a?":{"enum":"x"}}}`, `{"properties":{"a?":{"minimum":1e400,"maximum":-1e400,"multipleOf":0}}}`, `{"properties":{"a?":{"maximum":"7"}}}`,
		`{"properties":{"a?":{"multipleOf":1e-400}}}`, `{"properties":{"a?":{"minLength":-1}}}`, `{"properties":{"a?":{"maxLength":1.5}}}`, `{"properties":{"a?":{"maxLength":99999999999999999999}}}`, `{"properties":{"a?":{"minimum":NaN}}}`,
		`{"type":"object","type":"array"}`, `{"properties":{"a?":{}},"properties":{"b":7}}`, `{"Type":"object","Properties":{"a":{}}}`, `{"patternProperties":{"(":{},"[":{}}}`, `{"patternProperties":{"(?=x)":{}}}`, `{"propertyNames":{"pattern":"(?!x)"}}`,
		`{"$dynamicRef":"#meta"}`, `{"$recursiveRef":"#","$recursiveAnchor":true}`, `{"$schema":7}`, `{"$id":7}`, `{"$id":"%zz"}`, `{"$defs":[]}`, `{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}`, `{"$anchor":"a","$defs":{"x":{"$anchor":"a"}}}`, `{"if":7}`, `{"allOf":{}}`, `{"anyOf":[]}`, `{"items":{"type":{}}}`,
	})
	if !json.Valid([]byte(text)) { // a list with it would be no JSON at all
		return nil
	}
	return json.RawMessage(text)
}

// large returns a schema that is large in one way, and allows the arguments.
func (g *generator) large(arguments object) json.RawMessage {
	switch g.IntN(9) {
	case 0: // an enumeration
		values := make(list, 5000)
		for i := range values {
			values[i] = fmt.Sprint("value ", i)
		}
		return encode(object{"type": "object", "properties": object{"big?": object{"enum": values}}, "additionalProperties": true})
	case 1: // properties
		named := object{}
		for i := range 1000 {
			named[fmt.Sprint("property ", i)] = object{"type": "string", "description": g.text()}
		}
		return encode(object{"type": "object", "properties": named, "additionalProperties": true})
	case 2, 3: // depth
		depth := []int{100, 600, 2000, 4000}[g.IntN(4)]
		within := g.pick([]string{`{"properties":{"a":`, `{"items":`, `{"not":`, `{"additionalProperties":`, `{"x":`, `{"allOf":[`, `{"default":`})
		end := map[bool]string{true: strings.Repeat("}", 1+strings.Count(within, "{")-1), false: "]}"}[!strings.HasSuffix(within, "[")]
		return json.RawMessage(`{"type":"object","additionalProperties":true,"properties":{"deep?":` + strings.Repeat(within, depth) + "{}" + strings.Repeat(end, depth) + `}}`)
	case 4: // a chain of references
		var defs strings.Builder
		for i := range 500 {
			fmt.Fprintf(&defs, `"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
		}
		return json.RawMessage(`{"type":"object","additionalProperties":true,"properties":{"chain?":{"$ref":"#/$defs/d0"}},"$defs":{` + defs.String() + `"d500":{}}}`)
	case 5: // references that double at every step
		var defs strings.Builder
		for i := range 30 {
			fmt.Fprintf(&defs, `"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
		}
		return json.RawMessage(`{"type":"object","additionalProperties":{"$ref":"#/$defs/d0"},"$defs":{` + defs.String() + `"d30":{"type":"null"}}}`)
	case 6: // a recursive structure, which is right
		return encode(object{
			"type": "object", "additionalProperties": true, "properties": object{"tree?": object{"$ref": "#/$defs/Node"}},
			"$defs": object{"Node": object{"type": "object", "properties": object{"children": object{"type": "array", "items": object{"$ref": "#/$defs/Node"}}}}},
		})
	case 7: // choices
		choices := list{}
		for i := range 500 {
			choices = append(choices, object{"type": "object", "properties": object{"kind": object{"const": fmt.Sprint("kind ", i)}}, "required": list{"kind"}})
		}
		return encode(object{"type": "object", "anyOf": append(choices, g.ofObject(arguments, 2))})
	default: // text
		return encode(object{"type": "object", "additionalProperties": true, "description": strings.Repeat(g.text(), 500)})
	}
}

// output returns an output schema, which may be as odd as an input schema.
func (g *generator) output() json.RawMessage {
	if raw := g.brokenSchema(); g.chance(30) && raw != nil {
		return raw
	}
	return encode(g.ofObject(object{"result": g.value(2, false), "count": 7}, 3))
}
