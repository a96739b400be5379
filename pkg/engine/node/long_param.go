package node

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// marshalParams returns a compact JSON object of members that are valid JSON, sorted by name. It copies long values once
// only.
func marshalParams(members map[string]json.RawMessage) json.RawMessage {
	size := 2
	for name, value := range members {
		size += len(name) + len(value) + 4
	}
	var b bytes.Buffer
	b.Grow(size)
	b.WriteByte('{')
	for i, name := range sortedNames(members) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(rawjson.Quote(name))
		b.WriteByte(':')
		if err := json.Compact(&b, members[name]); err != nil { // cannot happen: every value is valid JSON
			b.WriteString("null")
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

// sortedNames returns the names of members. A run has it done for each node, so it allocates once.
func sortedNames(members map[string]json.RawMessage) []string {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// splitParam separates a parameter that may be very long from the others. It returns the parameter's value, not copied, and
// the call without it.
func splitParam(p *Call, param string) (json.RawMessage, *Call) {
	from, to := memberValue(p.Params, param)
	if from == to {
		return nil, p
	}
	rest := *p
	rest.Params = append(append(bytes.Clone(p.Params[:from]), "null"...), p.Params[to:]...)
	return p.Params[from:to], &rest
}

// memberValue returns the bounds of a member's value in a compact JSON object. They are equal if there is no such member.
func memberValue(object []byte, key string) (from, to int) {
	for at := 1; at < len(object) && object[at] == '"'; {
		name := object[at+1 : stringEnd(object, at)-1]
		from = at + len(name) + 3
		to = valueEnd(object, from)
		if string(name) == key {
			return from, to
		}
		at = to + 1
	}
	return 0, 0
}

// stringEnd returns the index after the JSON string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; ; i++ {
		next := bytes.IndexByte(b[i:], '"')
		if next < 0 {
			return len(b)
		}
		end := i + next
		slashes := end
		for slashes > i && b[slashes-1] == '\\' {
			slashes--
		}
		if i = end; (end-slashes)%2 == 0 {
			return end + 1
		}
	}
}

// valueEnd returns the index of the comma or bracket after the value that begins at i.
func valueEnd(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// textOf returns a reader of what a file gets for a JSON value: the text of a string, the JSON of another value, nothing for
// null.
func textOf(raw json.RawMessage) io.Reader {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return strings.NewReader(template.AsText(raw))
	}
	return &quotedText{rest: raw[1 : len(raw)-1]}
}

// quotedText reads the text of a JSON string in pieces, so that a long one is not copied as a whole.
type quotedText struct {
	rest []byte // without the quotes
	out  []byte
}

// Read reads the next part of the text.
func (q *quotedText) Read(p []byte) (int, error) {
	if len(q.out) == 0 {
		if len(q.rest) == 0 {
			return 0, io.EOF
		}
		n := q.pieceLen()
		q.out = q.rest[:n]
		if q.rest = q.rest[n:]; bytes.IndexByte(q.out, '\\') >= 0 {
			quoted := make([]byte, 0, n+2)
			q.out = []byte(template.AsText(append(append(append(quoted, '"'), q.out...), '"')))
		}
	}
	n := copy(p, q.out)
	q.out = q.out[n:]
	return n, nil
}

const (
	pieceSize = 64 << 10
	// longestEscape is the length of a surrogate pair: \ud83d\ude00.
	longestEscape = 12
)

// pieceLen returns the length of the next piece, which ends between two characters and outside an escape.
func (q *quotedText) pieceLen() int {
	for n := pieceSize; n < len(q.rest); n++ {
		if utf8.RuneStart(q.rest[n]) && bytes.IndexByte(q.rest[n-longestEscape:n], '\\') < 0 {
			return n
		}
	}
	return len(q.rest)
}
