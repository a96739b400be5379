package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// nastyKeys are those that mean something to gjson, or to a reader who is less than careful.
var nastyKeys = []string{
	"", "0", "1", "007", "-1", ":5", ":", "a.b", "a..b", ".", "..", "a.", ".a", "@this", "@reverse", "@this|@keys", "@pretty:{}", "#", "##", "#.a", "#(a==1)", "#[a]#", "*", "a*", "?",
	`\`, `\\`, `a\`, `\.`, `\u0061`, "|", "a|b", "!", `!"x"`, "!true", "~", "~true", "{a,b}", "[a,b]", "(", ")", "$", "${a}", "$${", "}", "]", `"`, `"]`, "'", " ", "\n", "\x00", "\x7f",
	"é", "日本", "😀", "\u2028", "\ufffd", "�A", "a", "b", "A", "__index__", "constructor",
}

var keys = rapid.OneOf(
	rapid.SampledFrom(nastyKeys),
	rapid.StringMatching(`[.*@|#\\!{}\[\]()~:?"0-9a]{1,6}`),
	rapid.String(),
)

// numbers are spelled as no decoder would write them again.
var numbers = []string{
	"0", "-0", "1.0", "1.50", "-1", "1e400", "-1E-400", "1E+2", "9007199254740993", "9223372036854775807", "18446744073709551616", "0.1000000000000000055511151231257827",
}

// documents makes JSON texts of every shape, in which no object has a key twice.
func documents(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		gap := func() string { return rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r\n"}).Draw(t, "space") }
		kinds := 5
		if depth == 0 {
			kinds = 3
		}
		var b strings.Builder
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom(numbers).Draw(t, "number")
		case 1:
			return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
		case 2:
			text := rapid.OneOf(keys, rapid.SampledFrom([]string{`{"a":[1]}`, " [1.0]", "{", `{"a":`, "plain", "5"})).Draw(t, "text")
			return quoted(t, text)
		case 3:
			b.WriteString("[" + gap())
			for i := range rapid.IntRange(0, 4).Draw(t, "items") {
				if i > 0 {
					b.WriteString("," + gap())
				}
				b.WriteString(documents(depth-1).Draw(t, "item") + gap())
			}
			return b.String() + "]"
		default:
			b.WriteString("{" + gap())
			for i, key := range rapid.SliceOfNDistinct(keys, 0, 5, rapid.ID[string]).Draw(t, "keys") {
				if i > 0 {
					b.WriteString("," + gap())
				}
				b.WriteString(quoted(t, key) + gap() + ":" + gap() + documents(depth-1).Draw(t, "member") + gap())
			}
			return b.String() + "}"
		}
	})
}

// quoted writes a text as a JSON string, with more escapes than it needs.
func quoted(t *rapid.T, text string) string {
	if rapid.Bool().Draw(t, "plain") {
		return string(rawjson.Quote(text))
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '/':
			b.WriteString(`\/`)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04X`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// naive follows one step as the plainest decoder does: it decodes an object or list whole and picks out what is wanted.
func naive(value json.RawMessage, step Step) (json.RawMessage, bool) {
	if step.IsIndex {
		var list []json.RawMessage
		if !bytes.HasPrefix(value, []byte("[")) || json.Unmarshal(value, &list) != nil || step.Index >= len(list) {
			return nil, false
		}
		return list[step.Index], true
	}
	var object map[string]json.RawMessage
	if !bytes.HasPrefix(value, []byte("{")) || json.Unmarshal(value, &object) != nil {
		return nil, false
	}
	member, ok := object[step.Key]
	return member, ok
}

// naiveText is the text of a JSON value that is one.
func naiveText(value json.RawMessage) (string, bool) {
	var text string
	if !bytes.HasPrefix(value, []byte(`"`)) || json.Unmarshal(value, &text) != nil {
		return "", false
	}
	return text, true
}

// follow is Lookup, naively.
func follow(value json.RawMessage, path []Step) (json.RawMessage, bool) {
	value = bytes.TrimSpace(value)
	for _, step := range path {
		if text, ok := naiveText(value); ok {
			inner := bytes.TrimSpace([]byte(text))
			if !json.Valid(inner) {
				return nil, false
			}
			value = inner
		}
		var ok bool
		if value, ok = naive(value, step); !ok {
			return nil, false
		}
	}
	return value, true
}

// ways draws a path into a document, one that leads on as long as it goes, and then perhaps one step that does not.
func ways(t *rapid.T, value json.RawMessage) []Step {
	var path []Step
	for len(path) < 12 {
		var choices []Step
		inside := value
		if text, ok := naiveText(value); ok && json.Valid([]byte(text)) {
			inside = bytes.TrimSpace([]byte(text))
		}
		switch {
		case bytes.HasPrefix(inside, []byte("[")):
			var list []json.RawMessage
			_ = json.Unmarshal(inside, &list)
			for i := range list {
				choices = append(choices, Step{Index: i, IsIndex: true})
			}
		case bytes.HasPrefix(inside, []byte("{")):
			dec := json.NewDecoder(bytes.NewReader(inside))
			_, _ = dec.Token()
			for dec.More() {
				key, _ := dec.Token()
				var member json.RawMessage
				_ = dec.Decode(&member)
				choices = append(choices, Step{Key: key.(string)})
			}
		}
		if len(choices) == 0 || rapid.IntRange(0, 9).Draw(t, "stop") == 0 {
			break
		}
		step := rapid.SampledFrom(choices).Draw(t, "step")
		path = append(path, step)
		value, _ = follow(inside, []Step{step})
	}
	if rapid.IntRange(0, 3).Draw(t, "astray") == 0 {
		path = append(path, rapid.OneOf(
			rapid.Map(keys, func(k string) Step { return Step{Key: k} }),
			rapid.Map(rapid.IntRange(0, 5), func(i int) Step { return Step{Index: i, IsIndex: true} }),
		).Draw(t, "last"))
	}
	return path
}
