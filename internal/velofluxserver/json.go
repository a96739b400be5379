package velofluxserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// value is a JSON value with its place, which the Manager's texts report.
type value struct{ gjson.Result }

// kind returns one of n b # " [ {, or 0 for a value that does not exist.
func (v value) kind() byte {
	if v.Raw == "" || v.Type == gjson.JSON {
		return (v.Raw + "\x00")[0]
	}
	return map[gjson.Type]byte{gjson.Null: 'n', gjson.False: 'b', gjson.True: 'b', gjson.Number: '#', gjson.String: '"'}[v.Type]
}

// end returns where the value ends.
func (v value) end() int { return v.Index + len(v.Raw) }

// get returns the value of a member.
func (v value) get(name string) value { return value{v.Get(name)} }

// items returns the items of a list.
func (v value) items() (all []value) {
	if v.IsArray() {
		v.ForEach(func(_, item gjson.Result) bool {
			all = append(all, value{item})
			return true
		})
	}
	return all
}

// string returns the text of a member that is a string, or a default.
func (v value) string(name, otherwise string) string {
	if m := v.get(name); m.Type == gjson.String {
		return m.Str
	}
	return otherwise
}

// json returns the bytes of a member, with its names sorted as the Manager's maps are, or a default.
func (v value) json(name, otherwise string) json.RawMessage {
	m := v.get(name)
	if m.Type == gjson.Null {
		return json.RawMessage(otherwise)
	}
	return sorted(m.Raw)
}

// syntaxError is what is wrong with a text, at a byte offset.
type syntaxError struct {
	path, message string
	at            int
}

// readJSON parses a value, or returns the Manager's text for what is wrong with it. Only that for a text that breaks off is
// exact.
func readJSON(in string) (value, *syntaxError) {
	start := len(in) - len(strings.TrimLeft(in, " \t\r\n"))
	var whole json.RawMessage
	err := json.Unmarshal([]byte(in), &whole)
	if !utf8.ValidString(in) {
		return value{}, &syntaxError{path: ".", message: "invalid unicode code point", at: len(strings.ToValidUTF8(in, ""))}
	}
	if err == nil {
		v := gjson.Parse(strings.TrimSpace(in))
		v.Index = start
		return value{v}, nil
	}
	fail := &syntaxError{path: "?", message: "EOF while parsing a value", at: len(in)}
	text := strings.TrimRight(in, " \t\r\n")
	if name, ok := strings.CutSuffix(text, `":`); ok {
		fail.path = name[strings.LastIndexByte(name, '"')+1:]
	} else if text == "" {
		fail.path = "."
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok && int(wrong.Offset) < len(in) {
		fail.message, fail.at = "expected value", int(wrong.Offset)
	}
	return value{}, fail
}

func joinedPath(path []string) string {
	if len(path) == 0 {
		return "."
	}
	return strings.TrimPrefix(strings.Join(path, ""), ".")
}

// place returns an offset as the Manager writes it: the line from 1, and the bytes before the offset in that line.
func place(in string, at int) string {
	before := in[:min(at, len(in))]
	return fmt.Sprintf("line %d column %d", 1+strings.Count(before, "\n"), len(before)-strings.LastIndexByte(before, '\n')-1)
}
