package velofluxserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// value is a JSON value with its end, which the Manager's texts report.
type value struct {
	kind   byte // one of n b # " [ {
	raw    string
	text   string // the decoded text of a string
	items  []*value
	fields []field
	end    int
}

type field struct {
	name  string
	end   int // the end of the name
	value *value
}

// get returns the value of a member, or nil.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for _, f := range v.fields {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// string returns the text of a member that is a string, or a default.
func (v *value) string(name, otherwise string) string {
	if m := v.get(name); m != nil && m.kind == '"' {
		return m.text
	}
	return otherwise
}

// json returns the bytes of a member, with its names sorted as the Manager's maps are, or a default.
func (v *value) json(name, otherwise string) json.RawMessage {
	m := v.get(name)
	if m == nil || m.kind == 'n' {
		return json.RawMessage(otherwise)
	}
	return sorted(m.raw)
}

// syntaxError is what is wrong with a text, at a byte offset.
type syntaxError struct {
	path, message string
	at            int
}

// jsonReader parses one value and ignores the text after it.
type jsonReader struct {
	in   string
	at   int
	path []string
	fail *syntaxError
}

func readJSON(in string) (*value, *syntaxError) {
	r := &jsonReader{in: in}
	if !utf8.ValidString(in) {
		return nil, &syntaxError{path: ".", message: "invalid unicode code point", at: len(strings.ToValidUTF8(in, ""))}
	}
	v := r.value()
	if r.fail != nil {
		return nil, r.fail
	}
	return v, nil
}

func (r *jsonReader) stop(inName bool, format string, args ...any) *value {
	if r.fail == nil {
		path := joinedPath(r.path)
		if inName {
			path = joinedPath(append(r.path, ".?"))
		}
		r.fail = &syntaxError{path: path, message: fmt.Sprintf(format, args...), at: r.at}
	}
	return nil
}

func joinedPath(path []string) string {
	if len(path) == 0 {
		return "."
	}
	return strings.TrimPrefix(strings.Join(path, ""), ".")
}

func (r *jsonReader) blanks() {
	r.at += len(r.in[r.at:]) - len(strings.TrimLeft(r.in[r.at:], " \t\r\n"))
}

func (r *jsonReader) next() byte {
	r.blanks()
	if r.at == len(r.in) {
		return 0
	}
	return r.in[r.at]
}

func (r *jsonReader) value() *value {
	c := r.next()
	if len(r.path) == 128 {
		return r.stop(false, "recursion limit exceeded")
	}
	begin := r.at
	v := &value{}
	switch c {
	case 0:
		return r.stop(false, "EOF while parsing a value")
	case '{':
		v.kind = '{'
		r.object(v)
	case '[':
		v.kind = '['
		r.array(v)
	case '"':
		v.kind = '"'
		v.text = r.string(false)
	default:
		r.scalar(v)
	}
	if r.fail != nil {
		return nil
	}
	v.raw, v.end = r.in[begin:r.at], r.at
	return v
}

func (r *jsonReader) scalar(v *value) {
	n := strings.IndexAny(r.in[r.at:], " \t\r\n,]}:")
	if n < 0 {
		n = len(r.in) - r.at
	}
	word := r.in[r.at : r.at+n]
	switch {
	case word == "null":
		v.kind = 'n'
	case word == "true" || word == "false":
		v.kind = 'b'
	case json.Valid([]byte(word)):
		v.kind = '#'
	default:
		r.at++
		r.stop(false, "expected value")
		return
	}
	r.at += n
}

func (r *jsonReader) string(inName bool) string {
	n := 1
	for r.at+n < len(r.in) && r.in[r.at+n] != '"' {
		if r.in[r.at+n] == '\\' {
			n++
		}
		n++
	}
	if r.at+n >= len(r.in) {
		r.at = len(r.in)
		r.stop(inName, "EOF while parsing a string")
		return ""
	}
	var text string
	if json.Unmarshal([]byte(r.in[r.at:r.at+n+1]), &text) != nil {
		r.at += n
		r.stop(inName, "invalid escape")
		return ""
	}
	r.at += n + 1
	return text
}

func (r *jsonReader) object(v *value) {
	r.at++
	for c := r.next(); c != '}'; c = r.next() {
		if len(v.fields) > 0 {
			switch {
			case c == 0:
				r.stop(true, "EOF while parsing an object")
				return
			case c != ',':
				r.at++
				r.stop(true, "expected `,` or `}`")
				return
			}
			r.at++
			c = r.next()
		}
		if !r.member(v, c) {
			return
		}
	}
	r.at++
}

// member parses a name and its value; c is the next byte.
func (r *jsonReader) member(v *value, c byte) (ok bool) {
	switch {
	case c == 0 && len(v.fields) == 0:
		r.stop(true, "EOF while parsing an object")
	case c == 0:
		r.stop(true, "EOF while parsing a value")
	case c == '}':
		r.at++
		r.stop(true, "trailing comma")
	case c != '"':
		r.at++
		r.stop(true, "key must be a string")
	}
	if r.fail != nil {
		return false
	}
	f := field{name: r.string(true), end: r.at}
	switch c = r.next(); {
	case r.fail != nil:
		return false
	case c == 0:
		r.stop(true, "EOF while parsing an object")
		return false
	case c != ':':
		r.at++
		r.stop(true, "expected `:`")
		return false
	}
	r.at++
	r.path = append(r.path, "."+f.name)
	f.value = r.value()
	r.path = r.path[:len(r.path)-1]
	v.fields = append(v.fields, f)
	return r.fail == nil
}

func (r *jsonReader) array(v *value) {
	r.at++
	for c := r.next(); c != ']'; c = r.next() {
		if len(v.items) > 0 {
			switch {
			case c == 0:
				r.stop(false, "EOF while parsing a list")
				return
			case c != ',':
				r.at++
				r.stop(false, "expected `,` or `]`")
				return
			}
			r.at++
			if r.next() == ']' {
				r.at++
				r.stop(false, "trailing comma")
				return
			}
		}
		r.path = append(r.path, fmt.Sprintf("[%d]", len(v.items)))
		item := r.value()
		r.path = r.path[:len(r.path)-1]
		if r.fail != nil {
			return
		}
		v.items = append(v.items, item)
	}
	r.at++
}

// place returns an offset as the Manager writes it: the line from 1, and the bytes before the offset in that line.
func place(in string, at int) string {
	before := in[:min(at, len(in))]
	return fmt.Sprintf("line %d column %d", 1+strings.Count(before, "\n"), len(before)-strings.LastIndexByte(before, '\n')-1)
}
