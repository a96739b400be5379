// Package template parses the templates ${…} in text and in JSON, and resolves them against raw JSON.
//
// A reference is a name followed by .key, [index] or ["key"] any number of times, as in ${files.list[0].name}. An index may
// be a reference itself: [${i}]. Alternatives separated by ?? are tried in turn, and JSON literals may be among them:
// ${a.x ?? b.y ?? "z"}. Functions behind a reference are applied to its value, from left to right: ${list.stdout | lines}. $${ is a literal ${. Values keep their spelling: what no reference leads into is copied byte for
// byte.
package template

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Ref is one reference: the root name and the steps from there.
type Ref struct {
	Root string
	Path []Step
}

// Step leads into an object by Key, into a list by Index if IsIndex is set, or by the value of At if that is not nil.
type Step struct {
	Key     string
	Index   int
	IsIndex bool
	At      *Ref
}

// Term is one of the alternatives of an expression: a reference or a JSON literal. Functions are the names of those that are
// applied to the value of the reference, in their order.
type Term struct {
	Ref       *Ref
	Functions []string
	Literal   json.RawMessage
}

// Expr is the content of ${…}: one reference, or several terms that are tried in turn.
type Expr struct{ Terms []Term }

// Member returns the key of the root's value that the reference leads into, or "" if the reference leads into none or the
// key depends on another reference.
func (r Ref) Member() string {
	if len(r.Path) == 0 || r.Path[0].At != nil {
		return ""
	}
	return r.Path[0].Key
}

// String returns the reference in its source form, with ${ and }.
func (r Ref) String() string { return "${" + r.Expression() + "}" }

// Expression returns the reference in its source form, without ${ and }.
func (r Ref) Expression() string {
	var b strings.Builder
	b.WriteString(r.Root)
	for _, s := range r.Path {
		switch {
		case s.At != nil:
			b.WriteString("[" + s.At.String() + "]")
		case s.IsIndex:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case plainKey(s.Key):
			b.WriteString("." + s.Key)
		default:
			b.WriteString("[" + string(rawjson.Quote(s.Key)) + "]")
		}
	}
	return b.String()
}

// String returns the expression in its source form, with ${ and }.
func (e Expr) String() string { return "${" + e.Expression() + "}" }

// Expression returns the expression in its source form, without ${ and }.
func (e Expr) Expression() string {
	terms := make([]string, len(e.Terms))
	for i, t := range e.Terms {
		if terms[i] = string(t.Literal); t.Ref != nil {
			terms[i] = strings.Join(append([]string{t.Ref.Expression()}, t.Functions...), " | ")
		}
	}
	return strings.Join(terms, " ?? ")
}

// Ref returns the expression's reference if it consists of one reference only, without functions.
func (e Expr) Ref() (Ref, bool) {
	if len(e.Terms) != 1 || e.Terms[0].Ref == nil || e.Terms[0].Functions != nil {
		return Ref{}, false
	}
	return *e.Terms[0].Ref, true
}

// Refs calls visit for each reference in an expression, including those inside an index. optional reports whether the
// expression may have a value without that reference.
func (e Expr) Refs(visit func(ref Ref, optional bool)) {
	for _, t := range e.Terms {
		if t.Ref != nil {
			t.Ref.refs(len(e.Terms) > 1, visit)
		}
	}
}

func (r Ref) refs(optional bool, visit func(Ref, bool)) {
	visit(r, optional)
	for _, s := range r.Path {
		if s.At != nil {
			s.At.refs(optional, visit)
		}
	}
}

// IsName reports whether a text can be the name of an input, a node or an alias, that is, the root of a reference.
func IsName(text string) bool { return text != "" && wordLength(text, true) == len(text) }

func plainKey(key string) bool { return key != "" && wordLength(key, false) == len(key) }

// wordLength returns the number of bytes at the start of s that form a name: letters, digits, _ and -. The name of a root
// does not begin with a digit or a hyphen.
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
