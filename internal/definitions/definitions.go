// Package definitions makes definitions of tools as MCP servers send them: with JSON Schemas of every dialect, correct ones, odd
// ones and broken ones, each with arguments that the schema allows, or that it says nothing about.
package definitions

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Definition is a tool.
type Definition struct {
	Name string
	// Tool is the whole definition as JSON, and Arguments are those of a call that the tool takes.
	Tool, Arguments json.RawMessage
}

// object is a JSON object.
type object = map[string]any

// list is a JSON array.
type list = []any

// Make returns n definitions, which depend only on the seed. Their names differ.
func Make(seed uint64, n int) []Definition {
	made := make([]Definition, n)
	for i := range made {
		made[i] = makeOne(rand.New(rand.NewPCG(seed, uint64(i))), i)
	}
	return made
}

func makeOne(random *rand.Rand, i int) Definition {
	g := &generator{Rand: random, dialect: dialects[random.IntN(len(dialects))], defs: object{}}
	d := Definition{Name: fmt.Sprintf("%s%d", g.pick(names), i)}
	arguments := g.value(3, true).(object) //nolint:forcetypeassert // the root is an object
	raw := g.input(arguments)
	if gives := `"properties":{"`; g.broken && strings.Contains(string(raw), gives) { // any other name is taken for a typing error
		clear(arguments)
	}
	d.Arguments = encode(arguments)
	tool := []byte(`{"name":` + string(encode(d.Name)))
	if g.chance(90) {
		tool = append(append(tool, `,"description":`...), encode(g.text())...)
	}
	if raw != nil {
		tool = append(append(tool, `,"inputSchema":`...), raw...)
	}
	if g.chance(30) {
		tool = append(append(tool, `,"outputSchema":`...), g.output()...)
	}
	if g.chance(20) {
		tool = append(tool, `,"annotations":{"readOnlyHint":true},"_meta":{"x":[1,{"y":null}]},"icons":[]`...)
	}
	d.Tool = append(tool, '}')
	return d
}

// generator makes one definition.
type generator struct {
	*rand.Rand
	dialect string
	// defs are the definitions to which references refer.
	defs object
	// broken is true if the input schema is broken.
	broken bool
}

// chance returns true in so many cases of a hundred.
func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) pick(from []string) string { return from[g.IntN(len(from))] }

func (g *generator) text() string {
	words := make([]string, 1+g.IntN(20))
	for i := range words {
		words[i] = g.pick(texts)
	}
	return strings.Join(words, " ")
}

// value returns a value, or an object if it is the root.
func (g *generator) value(depth int, root bool) any {
	kind := g.IntN(8)
	if root {
		kind = 6
	}
	if depth == 0 {
		kind %= 6
	}
	switch kind {
	case 0:
		return g.pick(texts)
	case 1:
		return json.Number(g.pick([]string{"0", "1", "-7", "1.5", "1e3", "1.0", "-0", "12345678901234567890", "3.141592653589793238"}))
	case 2:
		return g.chance(50)
	case 3:
		return strings.Repeat(g.pick(texts), 1+g.IntN(30))
	case 4:
		return ""
	case 5:
		return json.Number(fmt.Sprint(g.IntN(1000)))
	case 6:
		o := object{}
		for range g.IntN(5) {
			o[g.pick(properties)] = g.value(depth-1, false)
		}
		return o
	default:
		l := list{}
		for range g.IntN(4) {
			l = append(l, g.value(depth-1, false))
		}
		return l
	}
}

// encode returns the JSON of a value, with the numbers as they are spelled.
func encode(value any) json.RawMessage {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // the values of this package are JSON
	}
	return json.RawMessage(strings.TrimSpace(b.String()))
}

var dialects = []string{
	"", "", "", "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema#",
	"https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/schema#", "https://example.com/own",
}

var names = []string{
	"get_", "Create Issue ", "search-", "検索", "поиск", "a.b/", "🚀", "x:", "TOOL_", "tool\u00a0", "tool\n", "a\u0301", "İ", "--help", "../", "$", "%s", "'; --", "<b>", strings.Repeat("long", 40),
}

var properties = []string{
	"a", "b", "c", "path", "query", "page_size", "a.b", "a/b", "~", "検索", "имя", "🚀", "$id", "type", "properties", "required", "x y", "A", "constructor", "with-hyphen", "0", "[0]", "*", "#", "|", strings.Repeat("p", 200),
}

var texts = []string{"text", "a", "検索する", "поиск файла", "😀 emoji", "line\nbreak", "tab\tbed", "quote\"s", "back\\slash", "<html>&amp;", "2024-01-01", "https://example.com/?a=b", "x@example.com", "  spaces  ", "1", "true", "null"}
