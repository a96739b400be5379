package definitions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schema returns a schema that allows a value: any of many ways to say so, in the dialect of the generator.
func (g *generator) schema(value any, depth int) any {
	if depth <= 0 || g.chance(3) {
		return true
	}
	var s object
	switch g.IntN(14) {
	case 0:
		return object{}
	case 1:
		return object{"anyOf": list{g.schema(value, depth-1), g.other()}}
	case 2:
		return object{"allOf": list{g.schema(value, depth-1), object{}}}
	case 3:
		return object{"oneOf": list{g.exactly(value), object{"type": "null"}}}
	case 4:
		return g.reference(g.schema(value, depth-1))
	case 5:
		s = object{"enum": list{value, "another", 7, nil, list{}}}
	case 6:
		s = object{"const": value}
	case 7:
		s = object{"not": object{"enum": list{"never", object{"never": 1}}}}
	case 8:
		s = object{"if": g.other(), "then": true, "else": object{}}
	default:
		s = g.typed(value, depth)
	}
	return g.annotated(s)
}

// other returns a schema that allows no value that this package makes.
func (g *generator) other() any {
	return []any{object{"const": "another value"}, object{"enum": list{"x", "y"}}, object{"type": "object", "required": list{"never"}}, false}[g.IntN(4)]
}

// exactly returns a schema that allows a value and is not the type null.
func (g *generator) exactly(value any) any { return object{"enum": list{value}} }

// reference puts a schema into the definitions and returns a reference to it.
func (g *generator) reference(to any) any {
	group := g.pick([]string{"$defs", "definitions"})
	named, _ := g.defs[group].(object)
	if named == nil {
		named = object{}
	}
	name := fmt.Sprintf("%s%d", g.pick([]string{"Type", "a b", "a~b", "a/b", "検索", "a%b", "foo.Bar[int]"}), len(named))
	named[name] = to
	g.defs[group] = named
	pointer := strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", " ", "%20").Replace(name)
	return object{"$ref": "#/" + group + "/" + pointer}
}

// typed returns a schema with the type of a value, or with the keywords of it.
func (g *generator) typed(value any, depth int) object {
	switch value := value.(type) {
	case object:
		return g.ofObject(value, depth)
	case list:
		return g.ofList(value, depth)
	case string:
		s := object{"type": g.typeOf("string")}
		if g.chance(30) {
			s["minLength"], s["maxLength"] = 0, 100_000
		}
		if g.chance(20) {
			s["format"] = g.pick([]string{"date-time", "uri", "email", "uuid", "byte", "no-such-format"})
		}
		if g.chance(20) { // they match any text, in the time that a backtracking engine does not have
			s["pattern"] = g.pick([]string{"", ".*", "^(.*)*", "(a|a)*", "(x+x+)*", `^[\s\S]*$`, `[\w\W]*`, `\p{L}*`, "(?=)", `(?<!b)`, `[\u0000-\uffff]*`, "(", strings.Repeat("(a?", 200) + strings.Repeat(")", 200)})
		}
		return s
	case bool:
		return object{"type": g.typeOf("boolean")}
	default:
		s := object{"type": g.typeOf("number")}
		switch g.IntN(6) {
		case 0:
			s["minimum"], s["maximum"] = -1e6, 1e300
		case 1:
			s["exclusiveMinimum"] = -1e6
		case 2:
			s["minimum"], s["exclusiveMinimum"] = -1e6, true // draft-04
		}
		return s
	}
}

// typeOf returns the keyword type of a value of the named type.
func (g *generator) typeOf(name string) any {
	switch g.IntN(5) {
	case 0:
		return list{name, "null"}
	case 1:
		return list{"object", "array", "string", "number", "boolean", "null"}
	case 2:
		return list{name}
	}
	return name
}

func (g *generator) ofObject(value object, depth int) object {
	named, required := object{}, list{}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		named[name] = g.schema(value[name], depth-1)
		if g.chance(50) {
			required = append(required, name)
		}
	}
	for range g.IntN(4) {
		if name := g.pick(properties) + "?"; value[name] == nil {
			named[name] = g.other()
		}
	}
	s := object{"properties": named}
	if g.chance(80) {
		s["type"] = g.typeOf("object")
	}
	if len(required) > 0 || g.chance(20) {
		s["required"] = required
	}
	switch g.IntN(6) {
	case 0:
		s["additionalProperties"] = false
	case 1:
		s["additionalProperties"] = true
	case 2:
		s["additionalProperties"] = g.other()
	case 3:
		s["unevaluatedProperties"] = false
	}
	switch g.IntN(8) {
	case 0:
		s["patternProperties"] = object{"^(([a-z])+.)+[A-Z]([a-z])+$": true, "^x-(.*)*(.*)*$": object{}}
	case 1:
		s["propertyNames"] = object{"minLength": 0}
	case 2:
		s["dependencies"] = object{"never": list{"a"}, "neither": object{"required": list{"b"}}}
	case 3:
		s["dependentRequired"], s["minProperties"] = object{"never": list{"a"}}, 0
	}
	return s
}

func (g *generator) ofList(value list, depth int) object {
	s := object{"type": g.typeOf("array")}
	each := list{}
	for _, item := range value {
		each = append(each, g.schema(item, depth-1))
	}
	switch g.IntN(6) {
	case 0:
		s["items"] = true
	case 1:
		s["prefixItems"] = each
	case 2:
		if len(each) > 0 {
			s["items"], s["additionalItems"] = each, true // up to draft 2019-09
		}
	case 3:
		s["items"] = object{"anyOf": append(each, g.other())}
	case 4:
		s["maxItems"], s["minItems"] = 1000, 0
	}
	return s
}

// annotated adds what allows every value.
func (g *generator) annotated(s object) object {
	if g.chance(50) {
		s["description"] = g.text()
	}
	if g.chance(20) {
		s["title"], s["examples"], s["$comment"], s["x-own"], s["deprecated"] = g.text(), list{1, nil}, "c", object{"type": 7}, true
	}
	if g.chance(10) {
		s["default"] = []any{nil, 1, "x", object{}, list{}}[g.IntN(5)]
	}
	if g.chance(5) {
		s["nullable"] = true
	}
	return s
}
