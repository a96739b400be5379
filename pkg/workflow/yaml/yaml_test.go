package yaml

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/internal/cputime"
)

// asJSON parses a whole text and returns its JSON, or its first error with its line and column.
func asJSON(text string) string {
	n, errors := Parse(text, 0, len(text), 0)
	out, more := n.AppendJSON(nil)
	if errors = append(errors, more...); len(errors) > 0 {
		e := errors[0]
		return placeOf(text, e.At) + ": " + e.Message
	}
	return string(out)
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       `null`,
		"# nothing\n":                            `null`,
		"a: b":                                   `{"a":"b"}`,
		"---\na: b\n":                            `{"a":"b"}`,
		"- type: shell\n  n: 1\n":                `[{"type":"shell","n":1}]`,
		"a:\n- 1\n- 2\nb: 3\n":                   `{"a":[1,2],"b":3}`,
		"a:\n  - 1\n  -\n  - - 2\n":              `{"a":[1,null,[2]]}`,
		"a:\n    b: 1\n    c:\nd: e":             `{"a":{"b":1,"c":null},"d":"e"}`,
		"a: x # remark\nb: x#y\n":                `{"a":"x","b":"x#y"}`,
		"\"a b\": 1\n'c': 2\n":                   `{"a b":1,"c":2}`,
		"a: http://x/y?z=1":                      `{"a":"http://x/y?z=1"}`,
		"a: ${b.c}\n${d}: e":                     `{"a":"${b.c}","${d}":"e"}`,
		"a: one\n  two\n\n  three":               `{"a":"one two\nthree"}`,
		"a: |\n  one\n   two\n\n  three\n\nb: 1": `{"a":"one\n two\n\nthree\n","b":1}`,
		"a: |-\n  one\n\nb: >+\n  x\n  y\n\n":    `{"a":"one","b":"x y\n\n"}`,
		"a: >\n  one\n  two\n\n  three\n    four\n  five\n": `{"a":"one two\nthree\n  four\nfive\n"}`,
		"a: |2\n    x\n":                               `{"a":"  x\n"}`,
		"a: \"x\\ty\\u00e9\\x41\\\n  z\n\n  w\"":       "{\"a\":\"x\\tyéAz\\nw\"}",
		"a: \"\\ud83d\\ude00\"":                        `{"a":"😀"}`,
		"a: 'it''s  \n  so'":                           `{"a":"it's so"}`,
		"a: [1, 'b', \"c\", [d], {e: f}, ]":            `{"a":[1,"b","c",["d"],{"e":"f"}]}`,
		"a: {b: 1, \"c\":2, d, 'e': [\n  x,\n  y z] }": `{"a":{"b":1,"c":2,"d":null,"e":["x","y z"]}}`,
		"a: [${b.c}, ${d[${i}].e}]":                    `{"a":["${b.c}","${d[${i}].e}"]}`,
		"a: [one\n  two]":                              `{"a":["one two"]}`,
		"a:\r\n  - b\r\n  - |\r\n    c\r\n":            `{"a":["b","c\n"]}`,
		"{\"a\": [1, {\"b\": null}]}":                  `{"a":[1,{"b":null}]}`,
		"just text":                                    `"just text"`,
		"-x":                                           `"-x"`,
	} {
		if got := asJSON(text); got != want {
			t.Errorf("%q\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestScalars(t *testing.T) {
	for text, want := range map[string]string{
		"~": "null", "null": "null", "Null": "null", "nUll": `"nUll"`,
		"true": "true", "Yes": "true", "on": "true", "OFF": "false", "no": "false", "y": `"y"`, "n": `"n"`,
		"1": "1", "-0": "-0", "1.50": "1.50", "1e3": "1e3", "1E+3": "1E+3", "12345678901234567890123": "12345678901234567890123",
		"+5": "5", ".5": "0.5", "-.5": "-0.5", "5.": "5.0", "0x1F": "31", "-0b101": "-5", "0o17": "15", "1_000": "1000", "1_000_000.5": "1000000.5",
		"007": `"007"`, "0755": `"0755"`, "1_0": `"1_0"`, "2024_01": `"2024_01"`, "0x": `"0x"`, "0xg": `"0xg"`, "0b2": `"0b2"`, "1.2.3": `"1.2.3"`, "1e": `"1e"`,
		"2024-01-02": `"2024-01-02"`, "12:30:45": `"12:30:45"`, "1 2": `"1 2"`, ".": `"."`, "-": "[null]", "+": `"+"`, "1-2": `"1-2"`,
	} {
		if got := asJSON(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// TestErrors checks the place of each error, and the facts that its message must have.
func TestErrors(t *testing.T) {
	for text, want := range map[string]struct{ place, facts string }{
		"a: x: y":                       {"1:5", "colon"},
		"a: [1, 2":                      {"1:4", "[ never closed"},
		"a: {b: 1]":                     {"1:9", "] } expected"},
		"a: [b: c]":                     {"1:6", "key list"},
		"a: [,]":                        {"1:5", "comma"},
		"a: @x":                         {"1:4", "@ quotes"},
		"a: %x":                         {"1:4", "% quotes"},
		"a: &x 1":                       {"1:4", "anchor &"},
		"a: [*x]":                       {"1:5", "alias *"},
		"a: !!str 1":                    {"1:4", "tag !"},
		"<<: {a: 1}":                    {"1:1", "merge <<"},
		"b: 1\na: 1\nb: 2":              {"3:1", `key "b" line 1`},
		"{a: 1, a: 2}":                  {"1:8", `key "a" line 1`},
		"a: 1\n---\nb: 2":               {"2:1", "document ---"},
		"a: 1\n...\n":                   {"2:1", "document ..."},
		"a: \"x":                        {"1:4", "quotes never closed"},
		"a: \"\\q\"":                    {"1:5", `"\\q" escape`},
		"a: \"\\ud800\"":                {"1:5", `"\\ud800" escape`},
		"a: 'x' y":                      {"1:8", `"y" end`},
		"a: b\n c: d":                   {"2:2", "key above"},
		"a:\n  b: 1\n   c: 2":           {"3:4", "key above"},
		"a:\n  - b\n c: d":              {"3:2", "indented mapping"},
		"a: 1\nb":                       {"2:1", `"b" key expected`},
		"a: |\nb c":                     {"2:1", `"b c" | column 2`},
		"a: | x":                        {"1:5", "| > line"},
		"a: - b":                        {"1:4", "list line key"},
		"? a\n: b":                      {"1:1", "key ?"},
		"[a]: b":                        {"1:1", "key list mapping"},
		"a:\n\t- b":                     {"2:1", "tab spaces"},
		"- a\nb: c":                     {"2:1", `"b: c" belong before`},
		"a: .inf":                       {"1:4", ".inf JSON"},
		strings.Repeat("[", 201):        {"1:201", "more than 200"},
		strings.Repeat("- ", 201) + "x": {"1:401", "more than 200"},
	} {
		got := asJSON(text)
		place, message, _ := strings.Cut(got, ": ")
		if place != want.place {
			t.Errorf("%q: %s, want it at %s", text[:min(len(text), 60)], got, want.place)
		}
		for fact := range strings.FieldsSeq(want.facts) {
			if !strings.Contains(message, fact) {
				t.Errorf("%q: %s, want %s in it", text[:min(len(text), 60)], got, fact)
			}
		}
	}
}

// TestHostile gives the parser 1 MB of what is expensive for parsers. Each text ends in a value, or in an error at its
// place, in bounded memory and time.
func TestHostile(t *testing.T) {
	const size = 1 << 20
	for text, place := range map[string]string{
		"[":            "1:201",
		"{":            "1:201",
		"[{a: ":        "1:501",
		"- ":           "1:401",
		"-\n":          "",
		"? ":           "1:1",
		"&a ":          "1:1",
		"- &a b\n":     "1:3",
		"- *a\n":       "1:3",
		"\t":           "",
		"\x00":         "",
		"a\x00: ":      "1:7",
		"\xff":         "",
		"- \xc3\n":     "",
		"#\n":          "",
		"\n":           "",
		" ":            "",
		"a: ":          "1:5",
		"a:\n":         "2:1",
		"a: b\n ":      "2:2",
		"\"":           "1:3",
		"'":            "",
		"\"a\" ":       "1:5",
		"a: |\n ":      "",
		"a: |9\n ":     "2:2",
		"|+\n\n":       "",
		"- >\n  a\n\n": "",
		"${":           "",
		"[${":          "1:4",
		"[a,":          "1:601",
		"<<: a\n":      "1:1",
		"a\\":          "",
		"\"\\u":        "1:2",
		"---\n":        "2:1",
	} {
		input := strings.Repeat(text, size/len(text))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var errors, more []Error
		took := cputime.Of(func() {
			var n Node
			n, errors = Parse(input, 0, len(input), 0)
			_, more = n.AppendJSON(nil)
		})
		runtime.ReadMemStats(&after)
		got := ""
		if errors = append(errors, more...); len(errors) > 0 {
			got = placeOf(input, errors[0].At)
		}
		if got != place {
			t.Errorf("%q again and again: %q, want %q (%.300v)", text, got, place, errors)
		}
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 400*size || took > 20*time.Second {
			t.Errorf("%q again and again takes %d MB and %s", text, bytes/size, took)
		}
	}
}

func placeOf(text string, at int) string {
	return fmt.Sprintf("%d:%d", strings.Count(text[:at], "\n")+1, at-strings.LastIndexByte(text[:at], '\n'))
}

func TestParsePlaces(t *testing.T) {
	text := "> - a: b\n>   c:\n>     - d\n"
	n, errors := Parse(strings.ReplaceAll(text, ">", " "), 0, len(text), 2)
	if len(errors) > 0 {
		t.Fatal(errors)
	}
	a, _ := n.Items[0].Get("a")
	c, _ := n.Items[0].Get("c")
	for what, at := range map[string][2]int{
		"list": {n.At, 2}, "key a": {a.At, 4}, "value b": {a.Value.At, 7}, "key c": {c.At, 13}, "item d": {c.Value.Items[0].At, 24},
	} {
		if at[0] != at[1] {
			t.Errorf("%s is at %d, want %d", what, at[0], at[1])
		}
	}
}

// TestJSONIsYAML: what is written as JSON is read as the same, over however many lines.
func TestJSONIsYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := anyValue().Draw(t, "value")
		text, err := json.Marshal(value)
		if err != nil {
			t.Skip()
		}
		if rapid.Bool().Draw(t, "indented") {
			text, _ = json.MarshalIndent(value, "", "  ")
		}
		got := asJSON(string(text))
		var back any
		if json.Unmarshal([]byte(got), &back) != nil || fmt.Sprint(back) != fmt.Sprint(decoded(text)) {
			t.Fatalf("%s became %s", text, got)
		}
	})
}

// TestBlocks: what is written in block style, with text in whatever style can hold it, is read as the same.
func TestBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := anyValue().Draw(t, "value")
		raw, _ := json.Marshal(value)
		var b strings.Builder
		writeBlock(t, &b, decoded(raw), 0)
		var back any
		if got := asJSON(b.String()); json.Unmarshal([]byte(got), &back) != nil || fmt.Sprint(back) != fmt.Sprint(decoded(raw)) {
			t.Fatalf("%s became %s by\n%s", raw, got, b.String())
		}
	})
}

func decoded(raw []byte) (v any) {
	_ = json.Unmarshal(raw, &v)
	return v
}

func anyValue() *rapid.Generator[any] {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z \n:#"'\[\]{},|>&*!%@-]{0,12}`))
	return rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.SampledFrom([]any{nil, true, false, 1.5, -3, 1e20}),
		rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(rapid.Deferred(anyValue), 0, 3).Draw(t, "list") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.MapOfN(text, rapid.Deferred(anyValue), 0, 3).Draw(t, "map") }),
	)
}

// writeBlock writes a value where a line begins with so many spaces.
func writeBlock(t *rapid.T, b *strings.Builder, v any, indent int) {
	pad := strings.Repeat(" ", indent)
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			b.WriteString(pad + "[]\n")
		}
		for _, item := range v {
			b.WriteString(pad + "-")
			writeValue(t, b, item, indent)
		}
	case map[string]any:
		if len(v) == 0 {
			b.WriteString(pad + "{}\n")
		}
		for k, item := range v {
			key, _ := json.Marshal(k)
			b.WriteString(pad + string(key) + ":")
			writeValue(t, b, item, indent)
		}
	default:
		raw, _ := json.Marshal(v)
		b.WriteString(pad + string(raw) + "\n")
	}
}

// writeValue writes a value after a dash or a key.
func writeValue(t *rapid.T, b *strings.Builder, v any, indent int) {
	s, isText := v.(string)
	literal := isText && s != "" && strings.Trim(s, "\n") != "" && !strings.ContainsAny(s, "\r\u0085\u2028\u2029") && !strings.HasPrefix(strings.TrimLeft(s, "\n"), " ")
	switch style := rapid.IntRange(0, 3).Draw(t, "style"); {
	case literal && style == 0:
		chomp := "-"
		if strings.HasSuffix(s, "\n") {
			chomp = "+"
		}
		b.WriteString(" |" + chomp + "\n")
		for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
			b.WriteString(strings.Repeat(" ", indent+2) + line + "\n")
		}
	case isText && style == 1 && !strings.ContainsAny(s, "\n\r"):
		b.WriteString(" '" + strings.ReplaceAll(s, "'", "''") + "'\n")
	case isText || style == 2:
		raw, _ := json.Marshal(v)
		b.WriteString(" " + string(raw) + " # remark\n")
	default:
		b.WriteString("\n")
		writeBlock(t, b, v, indent+1+style)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("- type: shell\n- a: |\n    b\n- c: [1, {d: \"e\"}]\n", 0)
	f.Add("a: >-\n  b\n\n  c\nd: 'e'\n# f\ng:\n- h\n", 2)
	f.Add("a: |2+\n    b ${c}\n\n\t\n- &d *e !f <<: ? [,]\n", 0)
	f.Add("{\"a\\ud83d\\ude00\": [${b[${c}]}, 0x1F, 1_000, .5, ~, yes], 'it''s': \"x\\\n  y\"}\r\n", 1)
	f.Add("\x00\t\xff---\n...\n\u2028:\u0085 -\n", 3)
	f.Fuzz(func(t *testing.T, text string, indent int) {
		n, errors := Parse(text, 0, len(text), indent%8)
		raw, more := n.AppendJSON(nil)
		if len(errors)+len(more) == 0 && !json.Valid(raw) {
			t.Errorf("%q became %q", text, raw)
		}
		for _, e := range append(errors, more...) {
			if e.At < 0 || e.At > len(text) || e.Message == "" {
				t.Errorf("%q: %+v", text, e)
			}
		}
		if len(errors) > maxErrors+1 {
			t.Errorf("%q: %d errors", text, len(errors))
		}
		if len(errors) == 0 {
			inOrder(t, text, n, 0)
		}
	})
}

// inOrder checks that the keys and values of a node are in the text one after another, and not nested too deep.
func inOrder(t *testing.T, text string, n Node, depth int) {
	t.Helper()
	if n.At < 0 || n.At > len(text) || depth > maxDepth+1 {
		t.Errorf("%q: a node at %d, %d deep", text, n.At, depth)
	}
	last := n.At
	next := func(at int) {
		if at < last {
			t.Errorf("%q: %d after %d", text, at, last)
		}
		last = at
	}
	for _, item := range n.Items {
		next(item.At)
		inOrder(t, text, item, depth+1)
	}
	for _, e := range n.Entries {
		next(e.At)
		if next(e.Value.At); !strings.HasPrefix(strings.Trim(text[e.At:], "\"'"), e.Key[:min(len(e.Key), 1)]) && !strings.ContainsAny(text[e.At:e.At+1], "\"'") {
			t.Errorf("%q: no key %q at %d", text, e.Key, e.At)
		}
		inOrder(t, text, e.Value, depth+1)
	}
}
