package node

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// object is a compact JSON object of members that are valid JSON, in the order of their names. What is long is copied once.
func object(members map[string]json.RawMessage) json.RawMessage {
	size := 2
	for name, value := range members {
		size += len(name) + len(value) + 4
	}
	var b bytes.Buffer
	b.Grow(size)
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(rawjson.Quote(name))
		b.WriteByte(':')
		if err := json.Compact(&b, members[name]); err != nil { // every value of a parameter is one
			b.WriteString("null")
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

// large takes a parameter out that may be very long: its value as it stands among the parameters, which is no copy, and
// the node without it.
func large(p *Call, param string) (json.RawMessage, *Call) {
	from, to := member(p.Params, param)
	if from == to {
		return nil, p
	}
	rest := *p
	rest.Params = append(append(bytes.Clone(p.Params[:from]), "null"...), p.Params[to:]...)
	return p.Params[from:to], &rest
}

// member is where the value of a member of a compact JSON object begins and ends; the same place where there is none.
func member(object []byte, key string) (from, to int) {
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

// stringEnd is where a JSON string ends that begins at i.
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

// valueEnd is where a value ends that begins at i: at the comma or bracket behind it.
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

// textOf reads a value as it stands in a file: text as it is, another value as JSON, null as nothing.
func textOf(raw json.RawMessage) io.Reader {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return strings.NewReader(template.AsText(raw))
	}
	return &quotedText{rest: raw[1 : len(raw)-1]}
}

// quotedText reads what a JSON string says, piece by piece: a copy of a very long one is never made.
type quotedText struct {
	rest []byte // without the quotes
	out  []byte
}

// Read gives the next of the text.
func (q *quotedText) Read(p []byte) (int, error) {
	if len(q.out) == 0 {
		if len(q.rest) == 0 {
			return 0, io.EOF
		}
		n := q.piece()
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
	// longestEscape is that of a character of two halves: \ud83d\ude00.
	longestEscape = 12
)

// piece is how many bytes of the rest to take: no character and no escape may be cut in two.
func (q *quotedText) piece() int {
	for n := pieceSize; n < len(q.rest); n++ {
		if utf8.RuneStart(q.rest[n]) && bytes.IndexByte(q.rest[n-longestEscape:n], '\\') < 0 {
			return n
		}
	}
	return len(q.rest)
}
