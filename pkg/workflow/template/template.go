// Package template is ${…}: finding references in text and in JSON, and resolving them against raw JSON.
//
// A reference is ${name}, followed by .key, [index] or ["key"] any number of times; an index may be a reference itself,
// [${i}]. Several with ?? between them are tried in turn, and a JSON literal may stand among them: ${a.x ?? b.y ?? "z"}.
// $${ stands for a literal ${. Values keep their spelling: what is not looked into is copied byte for byte.
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

// Step goes into an object by Key, or into a list by Index when IsIndex, or by what At gives when it is set.
type Step struct {
	Key     string
	Index   int
	IsIndex bool
	At      *Ref
}

// Term is one of the alternatives of an expression: a reference or a JSON literal.
type Term struct {
	Ref     *Ref
	Literal json.RawMessage
}

// Expr is what stands between ${ and }: one reference, or several terms that are tried in turn.
type Expr struct{ Terms []Term }

// Member is the key of the root's value that the reference leads into; empty when it is no such key, or not known yet.
func (r Ref) Member() string {
	if len(r.Path) == 0 || r.Path[0].At != nil {
		return ""
	}
	return r.Path[0].Key
}

// String is the reference as it is written, with its braces.
func (r Ref) String() string { return "${" + r.Expression() + "}" }

// Expression is the reference as it is written, without braces.
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

// String is the expression as it is written, with its braces.
func (e Expr) String() string { return "${" + e.Expression() + "}" }

// Expression is the expression as it is written, without braces.
func (e Expr) Expression() string {
	terms := make([]string, len(e.Terms))
	for i, t := range e.Terms {
		if terms[i] = string(t.Literal); t.Ref != nil {
			terms[i] = t.Ref.Expression()
		}
	}
	return strings.Join(terms, " ?? ")
}

// Ref is the reference when the expression is just one.
func (e Expr) Ref() (Ref, bool) {
	if len(e.Terms) != 1 || e.Terms[0].Ref == nil {
		return Ref{}, false
	}
	return *e.Terms[0].Ref, true
}

// Refs lists the references in an expression, those inside an index included. optional says that the expression may
// have a value without that one.
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

// IsName says whether a text can be the name of an input, a node or an alias: whether a template can begin with it.
func IsName(text string) bool { return text != "" && wordLength(text, true) == len(text) }

func plainKey(key string) bool { return key != "" && wordLength(key, false) == len(key) }

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
