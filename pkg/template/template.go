// Package template is ${…}: finding references in text and in JSON, and resolving them against raw JSON.
//
// A reference is ${name}, followed by .key, [index] or ["key"] any number of times. $${ stands for a literal ${. Values
// keep their spelling: what is not looked into is copied byte for byte.
package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Ref is one reference: the root name and the steps from there.
type Ref struct {
	Root string
	Path []Step
}

// Step goes into an object by Key, or into a list by Index when IsIndex.
type Step struct {
	Key     string
	Index   int
	IsIndex bool
}

// String is the reference as it is written, with its braces.
func (r Ref) String() string { return "${" + r.Expression() + "}" }

// Expression is the reference as it is written, without braces.
func (r Ref) Expression() string {
	var b strings.Builder
	b.WriteString(r.Root)
	for _, s := range r.Path {
		switch {
		case s.IsIndex:
			fmt.Fprintf(&b, "[%d]", s.Index)
		case plainKey(s.Key):
			b.WriteString("." + s.Key)
		default:
			b.WriteString("[" + strconv.Quote(s.Key) + "]")
		}
	}
	return b.String()
}

// Part is a piece of a text: literal text, a reference, or something that begins like one and is none.
type Part struct {
	// Text is the literal, with $${ already made ${; for a Bad part, as it was written.
	Text string
	Ref  *Ref
	Bad  bool
	// Source is the part as it stands in the text.
	Source string
}

// Parse splits a text into its parts. It never fails: what begins with ${ and is no reference is a Bad part.
func Parse(text string) []Part {
	var parts []Part
	literal := func(s, source string) {
		if n := len(parts); n > 0 && parts[n-1].Ref == nil && !parts[n-1].Bad {
			parts[n-1].Text += s
			parts[n-1].Source += source
		} else if source != "" {
			parts = append(parts, Part{Text: s, Source: source})
		}
	}
	for text != "" {
		i := strings.Index(text, "${")
		if i < 0 {
			literal(text, text)
			break
		}
		if i > 0 && text[i-1] == '$' {
			literal(text[:i-1]+"${", text[:i+2])
			text = text[i+2:]
			continue
		}
		literal(text[:i], text[:i])
		text = text[i:]
		ref, n := parseRef(text[2:])
		if ref == nil {
			n = badLength(text)
			parts = append(parts, Part{Text: text[:n], Source: text[:n], Bad: true})
		} else {
			n += 2
			parts = append(parts, Part{Ref: ref, Source: text[:n]})
		}
		text = text[n:]
	}
	return parts
}

// badLength is how much of a text that begins like a reference is taken for a bad one: up to its closing brace, or to the
// next reference, which may stand inside it as in the shell's ${x:-${y}}.
func badLength(text string) int {
	if i := strings.IndexByte(text, '}'); i >= 0 {
		text = text[:i+1]
	}
	if i := strings.Index(text[2:], "${"); i >= 0 {
		text = text[:2+i]
	}
	return len(text)
}

// ParseExpression reads a reference without its braces, such as node.key. ok is false when it is none.
func ParseExpression(expr string) (Ref, bool) {
	ref, n := parseRef(expr + "}")
	if ref == nil || n != len(expr)+1 {
		return Ref{}, false
	}
	return *ref, true
}

// Source is an output's source as a template: node.key, node and $node.key mean the same as ${node.key}.
func Source(source string) string {
	if ref, ok := ParseExpression(strings.TrimPrefix(source, "$")); ok {
		return ref.String()
	}
	return source
}

// Whole is the reference when a text is just that one.
func Whole(text string) (Ref, bool) {
	if !strings.HasPrefix(text, "${") {
		return Ref{}, false
	}
	if ref, n := parseRef(text[2:]); ref != nil && n+2 == len(text) {
		return *ref, true
	}
	return Ref{}, false
}

// parseRef reads a reference up to and with its closing brace, and says how many bytes that took.
func parseRef(s string) (*Ref, int) {
	n := wordLength(s, true)
	if n == 0 {
		return nil, 0
	}
	ref := &Ref{Root: s[:n]}
	for n < len(s) {
		switch s[n] {
		case '}':
			return ref, n + 1
		case '.':
			k := wordLength(s[n+1:], false)
			if k == 0 {
				return nil, 0
			}
			ref.Path = append(ref.Path, Step{Key: s[n+1 : n+1+k]})
			n += 1 + k
		case '[':
			step, k := parseBracket(s[n:])
			if k == 0 {
				return nil, 0
			}
			ref.Path = append(ref.Path, step)
			n += k
		default:
			return nil, 0
		}
	}
	return nil, 0
}

// parseBracket reads [12] or ["any key"].
func parseBracket(s string) (Step, int) {
	if strings.HasPrefix(s, `["`) {
		quoted, err := strconv.QuotedPrefix(s[1:])
		if err != nil || !strings.HasPrefix(s[1+len(quoted):], "]") {
			return Step{}, 0
		}
		key, err := strconv.Unquote(quoted)
		if err != nil {
			return Step{}, 0
		}
		return Step{Key: key}, len(quoted) + 2
	}
	end := strings.IndexByte(s, ']')
	if end < 2 || strings.Trim(s[1:end], "0123456789") != "" {
		return Step{}, 0
	}
	i, err := strconv.Atoi(s[1:end])
	if err != nil {
		return Step{}, 0
	}
	return Step{Index: i, IsIndex: true}, end + 1
}

// wordLength is how many bytes at the start of s are a name: letters, digits, _ and -, not beginning with a digit or
// hyphen when it is a root.
func wordLength(s string, root bool) int {
	n := 0
	for n < len(s) {
		c := s[n]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (n == 0 && root || c != '-' && (c < '0' || c > '9')) {
			break
		}
		n++
	}
	return n
}

func plainKey(key string) bool { return key != "" && wordLength(key, false) == len(key) }

// Use is a reference with the JSON path of the text it stands in.
type Use struct {
	Ref  Ref
	Path string
}

// Uses lists the references in all texts of a JSON value, and the things that begin like one and are none.
func Uses(raw json.RawMessage) (uses []Use, bad []Use) {
	if !mayHoldTemplate(raw) {
		return nil, nil
	}
	walk(gjson.ParseBytes(raw), "", func(path, text string) {
		for _, p := range Parse(text) {
			switch {
			case p.Ref != nil:
				uses = append(uses, Use{*p.Ref, path})
			case p.Bad:
				bad = append(bad, Use{Ref{Root: p.Source}, path})
			}
		}
	})
	return uses, bad
}

func walk(v gjson.Result, path string, text func(path, text string)) {
	switch {
	case v.Type == gjson.String:
		text(path, v.Str)
	case v.IsObject():
		v.ForEach(func(k, item gjson.Result) bool {
			walk(item, rawjson.JoinPath(path, k.Str), text)
			return true
		})
	case v.IsArray():
		i := 0
		v.ForEach(func(_, item gjson.Result) bool {
			walk(item, fmt.Sprintf("%s[%d]", path, i), text)
			i++
			return true
		})
	}
}

// mayHoldTemplate says whether some text may have a ${ in it, also one written with JSON's escapes.
func mayHoldTemplate(raw json.RawMessage) bool {
	return bytes.Contains(raw, []byte("${")) || bytes.Contains(raw, []byte(`\u00`))
}
