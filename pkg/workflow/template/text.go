package template

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Use is a reference in a JSON value. Path is the JSON path of its text and Offset the byte offset of its template in the
// text. Optional reports whether the template may have a value without this reference, because it has alternatives. Expr is the
// template, with the first of its references only.
type Use struct {
	Ref      Ref
	Path     string
	Offset   int
	Optional bool
	Expr     *Expr
}

// Uses returns the references in all texts of a JSON value, and the malformed ones.
func Uses(raw json.RawMessage) (uses []Use, bad []Use) {
	for at, text := range texts(raw) {
		path, offset := at.String(), 0
		for _, p := range Parse(text.value) {
			switch {
			case p.Expr != nil:
				expr := p.Expr
				p.Expr.Refs(func(ref Ref, optional bool) {
					uses = append(uses, Use{ref, path, offset, optional, expr})
					expr = nil
				})
			case p.Bad:
				bad = append(bad, Use{Ref: Ref{Root: p.Source}, Path: path, Offset: offset})
			}
			offset += len(p.Source)
		}
	}
	return uses, bad
}

// MayHoldTemplate reports whether a text in a JSON value may contain ${, literally or written with JSON escapes. It may
// report true for a value without a template.
func MayHoldTemplate(raw json.RawMessage) bool {
	return bytes.Contains(raw, []byte("${")) || bytes.Contains(raw, []byte(`\u00`))
}

// text is a text that contains ${, with its byte offsets in the JSON value, quotes included.
type text struct {
	value      string
	start, end int
}

// place is the path to a text: the objects and lists around it, outermost first.
type place []level

// level is the member of an object or the item of a list that is being read. key includes its quotes; it is nil if the next
// string is a key.
type level struct {
	object bool
	key    []byte
	index  int
}

// String returns the place as a path, such as nodes[1].params.
func (p place) String() string {
	path := ""
	for _, l := range p {
		if l.object {
			path = rawjson.JoinPath(path, unquote(l.key))
		} else {
			path += "[" + strconv.Itoa(l.index) + "]"
		}
	}
	return path
}

// texts iterates over the texts that contain ${, except keys, in one pass over a valid JSON value. A place is valid until
// the next iteration.
func texts(raw []byte) iter.Seq2[place, text] {
	return func(yield func(place, text) bool) {
		if !MayHoldTemplate(raw) {
			return
		}
		at := place{{}} // a level below all others, so that there is always one
		for i := 0; i < len(raw); i++ {
			top := &at[len(at)-1]
			switch raw[i] {
			case '{':
				at = append(at, level{object: true})
			case '[':
				at = append(at, level{})
			case '}', ']':
				at = at[:max(1, len(at)-1)]
			case ',':
				top.key = nil
				top.index++
			case '"':
				end := stringEnd(raw, i)
				quoted := raw[i:end]
				if top.object && top.key == nil {
					top.key = quoted
				} else if MayHoldTemplate(quoted) {
					if value := unquote(quoted); strings.Contains(value, "${") && !yield(at[1:], text{value, i, end}) {
						return
					}
				}
				i = end - 1
			}
		}
	}
}
