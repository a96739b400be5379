package template

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Use is a reference with the JSON path of the text it stands in, and where in that its template begins. Optional says that
// the template has a value also when this reference leads nowhere, for others stand beside it.
type Use struct {
	Ref      Ref
	Path     string
	Offset   int
	Optional bool
}

// Uses lists the references in all texts of a JSON value, and the things that begin like one and are none.
func Uses(raw json.RawMessage) (uses []Use, bad []Use) {
	for at, text := range texts(raw) {
		path, offset := at.String(), 0
		for _, p := range Parse(text.value) {
			switch {
			case p.Expr != nil:
				p.Expr.Refs(func(ref Ref, optional bool) { uses = append(uses, Use{ref, path, offset, optional}) })
			case p.Bad:
				bad = append(bad, Use{Ref: Ref{Root: p.Source}, Path: path, Offset: offset})
			}
			offset += len(p.Source)
		}
	}
	return uses, bad
}

// MayHoldTemplate says whether some text of a JSON value may have a ${ in it, also one written with JSON's escapes.
func MayHoldTemplate(raw json.RawMessage) bool {
	return bytes.Contains(raw, []byte("${")) || bytes.Contains(raw, []byte(`\u00`))
}

// text is a text that has a ${ in it, and where it stands in the JSON value, quotes included.
type text struct {
	value      string
	start, end int
}

// place is the way to a text: the levels of objects and lists around it.
type place []level

// level is the member of an object or the item of a list that is being read. key has its quotes, and is nil where the
// next string is one.
type level struct {
	object bool
	key    []byte
	index  int
}

// String is the place as a path, such as nodes[1].params.
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

// texts finds the texts with a ${ in them, but for keys, in one reading of a valid JSON value. A place is good until the
// next one is asked for.
func texts(raw []byte) iter.Seq2[place, text] {
	return func(yield func(place, text) bool) {
		if !MayHoldTemplate(raw) {
			return
		}
		at := place{{}} // a level below all others spares the question whether there is one
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
