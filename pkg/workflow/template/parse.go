package template

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Part is a piece of a text: literal text, an expression, or a malformed expression.
type Part struct {
	// Text is the literal with $${ replaced by ${, or the source of a Bad part.
	Text string
	Expr *Expr
	// Bad marks a part that begins with ${ but is not an expression.
	Bad bool
	// Source is the part as written.
	Source string
}

// Parse splits a text into its parts. It never fails: a malformed expression becomes a Bad part.
func Parse(text string) []Part {
	var parts []Part
	var literal strings.Builder
	begin, done := 0, 0 // the literal begins at begin and is read up to done
	end := func(at int) {
		if at == begin {
			return
		}
		s := text[done:at]
		if done > begin {
			literal.WriteString(s)
			s = literal.String()
			literal.Reset()
		}
		parts = append(parts, Part{Text: s, Source: text[begin:at]})
	}
	for {
		i := strings.Index(text[done:], "${")
		if i < 0 {
			break
		}
		at := done + i
		if i > 0 && text[at-1] == '$' {
			literal.WriteString(text[done:at-1] + "${")
			done = at + 2
			continue
		}
		end(at)
		part := Part{Bad: true}
		expr, n := parseExpr(text[at:])
		if expr != nil {
			part = Part{Expr: expr}
		} else {
			n = badLength(text[at:])
			part.Text = text[at : at+n]
		}
		part.Source = text[at : at+n]
		parts = append(parts, part)
		begin, done = at+n, at+n
	}
	end(len(text))
	return parts
}

// badLength returns the length of the malformed expression at the start of a text. It ends at the closing brace, or before
// the next reference or escape, which may be nested in it as in the shell's ${x:-${y}}.
func badLength(text string) int {
	if i := strings.Index(text[2:], "${"); i >= 0 {
		text = strings.TrimSuffix(text[:2+i], "$")
	}
	if i := strings.IndexByte(text, '}'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// ParseExpression parses a reference without ${ and }, such as node.key. It returns false if expr is not a reference.
func ParseExpression(expr string) (Ref, bool) {
	ref, n := parseRef(expr, 0)
	if ref == nil || n != len(expr) {
		return Ref{}, false
	}
	return *ref, true
}

// Source returns an output's source as a template: node.key and $node.key mean ${node.key}, and node means ${node}. Other
// text is returned as it is.
func Source(source string) string {
	if ref, ok := ParseExpression(strings.TrimPrefix(source, "$")); ok {
		return ref.String()
	}
	return source
}

// Whole returns the expression if a text consists of one expression only.
func Whole(text string) (Expr, bool) {
	if !strings.HasPrefix(text, "${") {
		return Expr{}, false
	}
	if expr, n := parseExpr(text); expr != nil && n == len(text) {
		return *expr, true
	}
	return Expr{}, false
}

// No real workflow comes near these limits. They bound the work that one expression can cause.
const (
	maxTerms   = 100
	maxSteps   = 100
	maxNesting = 8 // of references in the indexes of others
	maxCalls   = 10
)

// parseExpr parses the expression ${…} at the start of s and returns it with its length in bytes, or nil.
func parseExpr(s string) (*Expr, int) {
	expr := &Expr{}
	n := len("${")
	for len(expr.Terms) < maxTerms {
		term, k := parseTerm(s[n:], len(expr.Terms) == 0)
		if k == 0 {
			return nil, 0
		}
		expr.Terms = append(expr.Terms, term)
		n += k
		if strings.HasPrefix(s[n:], "}") {
			if len(expr.Terms) == 1 && term.Ref == nil {
				return nil, 0 // a literal alone
			}
			return expr, n + 1
		}
		rest, more := strings.CutPrefix(strings.TrimLeft(s[n:], space), "??")
		if !more {
			return nil, 0
		}
		n = len(s) - len(strings.TrimLeft(rest, space))
	}
	return nil, 0
}

// parseTerm parses a reference or a JSON literal. The names true, false and null are literals, except in an expression
// that consists of such a name only.
func parseTerm(s string, first bool) (Term, int) {
	if word := s[:wordLength(s, true)]; word == "true" || word == "false" || word == "null" {
		if after := s[len(word):]; after != "" && after[0] != '.' && after[0] != '[' && (!first || after[0] != '}') {
			return Term{Literal: json.RawMessage(word)}, len(word)
		}
	}
	if ref, n := parseRef(s, 0); ref != nil {
		functions, k := parseFunctions(s[n:])
		return Term{Ref: ref, Functions: functions}, n + k
	}
	literal := parseLiteral(s)
	return Term{Literal: literal}, len(literal)
}

// parseFunctions parses the functions behind a reference, such as | trim | lines, and returns their names with the length in
// bytes. It stops before what is not a function.
func parseFunctions(s string) (names []string, n int) {
	for len(names) < maxCalls {
		rest, more := strings.CutPrefix(strings.TrimLeft(s[n:], space), "|")
		if !more {
			break
		}
		rest = strings.TrimLeft(rest, space)
		name := rest[:wordLength(rest, true)]
		if !slices.Contains(Functions(), name) {
			break
		}
		names = append(names, name)
		n = len(s) - len(rest) + len(name)
	}
	return names, n
}

// parseLiteral returns the JSON value at the start of s, or nil.
func parseLiteral(s string) json.RawMessage {
	if s == "" || !strings.ContainsRune(`"{[-0123456789`, rune(s[0])) {
		return nil
	}
	if s[0] == '"' {
		raw := json.RawMessage(s[:stringEnd(s, 0)])
		if !json.Valid(raw) {
			return nil
		}
		return raw
	}
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(s)).Decode(&raw) != nil {
		return nil
	}
	return raw
}

// parseRef parses the longest reference at the start of s and returns it with its length in bytes, or nil.
func parseRef(s string, depth int) (*Ref, int) {
	n := wordLength(s, true)
	if n == 0 || depth > maxNesting {
		return nil, 0
	}
	ref := &Ref{Root: s[:n]}
	for n < len(s) {
		var step Step
		k := 0
		switch s[n] {
		case '.':
			if k = wordLength(s[n+1:], false); k > 0 {
				step = Step{Key: s[n+1 : n+1+k]}
				k++
			}
		case '[':
			step, k = parseBracket(s[n:], depth)
		default:
			return ref, n
		}
		if k == 0 || len(ref.Path) == maxSteps {
			return nil, 0
		}
		ref.Path = append(ref.Path, step)
		n += k
	}
	return ref, n
}

// parseBracket parses [12], ["any key"] or [${reference}] at the start of s and returns the step with its length in bytes.
func parseBracket(s string, depth int) (Step, int) {
	step, n := Step{}, 0
	switch inner := s[1:]; {
	case strings.HasPrefix(inner, `"`):
		quoted := parseLiteral(inner)
		if quoted == nil {
			return Step{}, 0
		}
		step, n = Step{Key: unquote(quoted)}, len(quoted)
	case strings.HasPrefix(inner, "${"):
		ref, k := parseRef(inner[2:], depth+1)
		if ref == nil || !strings.HasPrefix(inner[2+k:], "}") {
			return Step{}, 0
		}
		step, n = Step{At: ref}, k+len("${}")
	default:
		n = len(inner) - len(strings.TrimLeft(inner, "0123456789"))
		i, ok := parseIndex(inner[:n])
		if !ok {
			return Step{}, 0
		}
		step = Step{Index: i, IsIndex: true}
	}
	if !strings.HasPrefix(s[1+n:], "]") {
		return Step{}, 0
	}
	return step, n + len("[]")
}

// parseIndex parses a number that consists of digits only.
func parseIndex(s string) (int, bool) {
	i, err := strconv.Atoi(s)
	return i, err == nil && s[0] >= '0' && s[0] <= '9'
}
