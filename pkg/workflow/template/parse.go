package template

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Part is a piece of a text: literal text, an expression, or something that begins like one and is none.
type Part struct {
	// Text is the literal, with $${ already made ${; for a Bad part, as it was written.
	Text string
	Expr *Expr
	Bad  bool
	// Source is the part as it stands in the text.
	Source string
}

// Parse splits a text into its parts. It never fails: what begins with ${ and is no expression is a Bad part.
func Parse(text string) []Part {
	var parts []Part
	var literal strings.Builder
	begin, done := 0, 0 // where the literal begins, and up to where it has been read
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

// badLength is how much of a text that begins like a reference is taken for a bad one: up to its closing brace, or to the
// next reference or escape, which may stand inside it as in the shell's ${x:-${y}}.
func badLength(text string) int {
	if i := strings.Index(text[2:], "${"); i >= 0 {
		text = strings.TrimSuffix(text[:2+i], "$")
	}
	if i := strings.IndexByte(text, '}'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// ParseExpression reads a reference without its braces, such as node.key. ok is false when it is none.
func ParseExpression(expr string) (Ref, bool) {
	ref, n := parseRef(expr, 0)
	if ref == nil || n != len(expr) {
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

// Whole is the expression when a text is just that one.
func Whole(text string) (Expr, bool) {
	if !strings.HasPrefix(text, "${") {
		return Expr{}, false
	}
	if expr, n := parseExpr(text); expr != nil && n == len(text) {
		return *expr, true
	}
	return Expr{}, false
}

// Nobody writes as many. They bound how often a value is read for one expression, and what that takes to say.
const (
	maxTerms   = 100
	maxSteps   = 100
	maxNesting = 8 // how deep a reference may stand in the index of another
)

// parseExpr reads ${…} at the start of s, and says how many bytes it has; nil when there is none.
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

// parseTerm reads a reference or a JSON literal. The names true, false and null are literals, but for an expression that
// is nothing else.
func parseTerm(s string, first bool) (Term, int) {
	if word := s[:wordLength(s, true)]; word == "true" || word == "false" || word == "null" {
		if after := s[len(word):]; after != "" && after[0] != '.' && after[0] != '[' && (!first || after[0] != '}') {
			return Term{Literal: json.RawMessage(word)}, len(word)
		}
	}
	if ref, n := parseRef(s, 0); ref != nil {
		return Term{Ref: ref}, n
	}
	literal := parseLiteral(s)
	return Term{Literal: literal}, len(literal)
}

// parseLiteral reads the JSON value at the start of s; nil when there is none.
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

// parseRef reads the longest reference at the start of s, and says how many bytes that took.
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

// parseBracket reads [12], ["any key"] or [${reference}].
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

// parseIndex reads digits and nothing else.
func parseIndex(s string) (int, bool) {
	i, err := strconv.Atoi(s)
	return i, err == nil && s[0] >= '0' && s[0] <= '9'
}
