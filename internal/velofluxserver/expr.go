package velofluxserver

import (
	"slices"
	"strings"
)

// expr is an SQL expression.
type expr struct {
	kind exprKind
	// text is a name, a literal, an operator, or the name of a function.
	text string
	args []*expr
	// over is the text in the parentheses after OVER, or nil.
	over *string
	// distinct means that DISTINCT precedes the arguments of a function.
	distinct bool
}

type exprKind int

const (
	nameExpr        exprKind = iota // a.b is one name
	constantExpr                    // a number, a string, TRUE, FALSE or NULL
	unaryExpr                       // text is the operator
	binaryExpr                      // text is the operator
	callExpr                        // text is the name of the function
	starExpr                        // all columns
	parensExpr                      // an expression in parentheses
	caseExpr                        // args are pairs of WHEN and THEN, then ELSE if there is one
	testExpr                        // IN and BETWEEN; text is the whole expression
	unsupportedExpr                 // parses but cannot be planned; text is the whole expression
)

// parser parses a statement. At the first mistake it panics with a parseError, which parseSQL recovers.
type parser struct {
	all       []token
	at, depth int
}

// maxDepth is the most levels to which expressions and statements may nest.
const maxDepth = 50

// enter enters a nested expression or statement. The caller defers the returned function.
func (p *parser) enter() (out func()) {
	if p.depth++; p.depth > maxDepth {
		panic(parseError("Parse error: sql parser error: recursion limit exceeded"))
	}
	return func() { p.depth-- }
}

// parseError is the Manager's text for a mistake.
type parseError string

func (p *parser) peek() token { return p.all[p.at] }

func (p *parser) next() token {
	t := p.all[p.at]
	if t.kind != endToken {
		p.at++
	}
	return t
}

// accept consumes the next tokens if they are the given words, and reports whether they were.
func (p *parser) accept(words ...string) bool {
	for i, w := range words {
		if p.at+i >= len(p.all) || !p.all[p.at+i].is(w) {
			return false
		}
	}
	p.at += len(words)
	return true
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.expected(text)
	}
}

func (p *parser) expected(what string) {
	t := p.peek()
	panic(parseError("Parse error: sql parser error: Expected " + what + ", found: " + t.String() + t.position()))
}

// precedence returns the precedence of an operator, or 0 for any other token.
func precedence(t token) int {
	switch strings.ToUpper(t.text) {
	case "OR":
		return 1
	case "AND":
		return 2
	case "=", "<", ">", "<=", ">=", "<>", "!=", "IS", "LIKE", "IN", "BETWEEN", "NOT":
		return 4
	case "+", "-", "||":
		return 5
	case "*", "/", "%":
		return 6
	case "->":
		return 7
	}
	return 0
}

func (p *parser) expression() *expr { return p.operation(0) }

// operation parses an expression whose operators bind tighter than the operator before it.
func (p *parser) operation(than int) *expr {
	defer p.enter()()
	left := p.operand()
	for {
		t := p.peek()
		b := 0
		if t.kind == wordToken || t.kind == symbolToken {
			b = precedence(t)
		}
		if b <= than {
			return left
		}
		p.next()
		switch strings.ToUpper(t.text) {
		case "IS", "LIKE", "IN", "BETWEEN", "NOT":
			left = p.predicate(left, strings.ToUpper(t.text))
		default:
			left = &expr{kind: binaryExpr, text: strings.ToUpper(t.text), args: []*expr{left, p.operation(b)}}
		}
	}
}

// predicate parses the rest of IS, LIKE, IN and BETWEEN, which NOT may precede.
func (p *parser) predicate(left *expr, operator string) *expr {
	if operator == "NOT" {
		for _, known := range [...]string{"LIKE", "IN", "BETWEEN"} {
			if p.accept(known) {
				return p.predicate(left, known)
			}
		}
		p.expected("IN or BETWEEN after NOT")
	}
	e := &expr{kind: testExpr, args: []*expr{left}}
	from := p.at - 1
	switch operator {
	case "IS":
		p.accept("NOT")
		p.next()
		e.kind = unsupportedExpr
	case "LIKE":
		p.operation(4)
		e.kind = unsupportedExpr
	case "IN":
		p.expect("(")
		e.args = append(e.args, p.list()...)
	case "BETWEEN":
		e.args = append(e.args, p.operation(4))
		p.expect("AND")
		e.args = append(e.args, p.operation(4))
	}
	e.text = left.String() + " " + p.sourceText(from)
	return e
}

// sourceText returns the source text of the tokens from one on, separated by spaces.
func (p *parser) sourceText(from int) string {
	var words []string
	for _, t := range p.all[from:p.at] {
		words = append(words, t.text)
	}
	return strings.Join(words, " ")
}

func (p *parser) operand() *expr {
	t := p.peek()
	e := &expr{text: t.text}
	switch {
	case t.is("NOT") || t.is("-") || t.is("+"):
		p.next()
		bound := 6
		if t.kind == wordToken {
			bound = 3
		}
		e.kind, e.args = unaryExpr, []*expr{p.operation(bound)}
		return e
	case t.is("("):
		p.next()
		e.kind, e.args = parensExpr, []*expr{p.expression()}
		p.expect(")")
	case t.is("CASE"):
		e = p.caseOf()
	case t.is("CAST") && p.all[p.at+1].is("("):
		from := p.at
		p.next()
		p.balanced()
		e.kind, e.text = unsupportedExpr, p.sourceText(from)
	case t.is("*"):
		p.next()
		e.kind = starExpr
	case t.kind == numberToken || t.kind == textToken || t.is("TRUE") || t.is("FALSE") || t.is("NULL"):
		p.next()
		e.kind = constantExpr
	case t.kind == wordToken && !slices.ContainsFunc([]string{"WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "THEN", "WHEN", "ELSE", "END"}, t.is), t.kind == nameToken:
		e = p.name()
	default:
		p.expected("an expression:")
	}
	for p.accept("[") {
		e = &expr{kind: binaryExpr, text: "[]", args: []*expr{e, p.expression()}}
		p.expect("]")
	}
	return e
}

// name parses a name of one or more parts, or a function call.
func (p *parser) name() *expr {
	e := &expr{kind: nameExpr, text: p.next().text}
	for p.accept(".") {
		part := p.next()
		if part.is("*") {
			return &expr{kind: starExpr, text: e.text + ".*"}
		}
		e.text += "." + part.text
	}
	if !p.accept("(") {
		return e
	}
	e.kind = callExpr
	e.distinct = p.accept("DISTINCT")
	e.args = p.list()
	if p.accept("FILTER") {
		p.balanced()
	}
	if p.accept("OVER") {
		over := p.balanced()
		e.over = &over
	}
	return e
}

// list parses expressions up to the closing parenthesis. The opening one has been read.
func (p *parser) list() []*expr {
	var all []*expr
	if p.accept(")") {
		return nil
	}
	for {
		all = append(all, p.expression())
		if p.accept(",") {
			continue
		}
		p.expect(")")
		return all
	}
}

func (p *parser) caseOf() *expr {
	p.next()
	e := &expr{kind: caseExpr}
	if !p.peek().is("WHEN") { // CASE x WHEN 1 is CASE WHEN x = 1
		p.expression()
	}
	for p.accept("WHEN") {
		condition := p.expression()
		p.expect("THEN")
		e.args = append(e.args, condition, p.expression())
	}
	if p.accept("ELSE") {
		e.args = append(e.args, p.expression())
	}
	p.expect("END")
	return e
}

// balanced skips any text in parentheses and returns its words.
func (p *parser) balanced() string {
	p.expect("(")
	var words []string
	for depth := 1; ; {
		t := p.next()
		switch {
		case t.kind == endToken:
			p.expected(")")
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth == 0 {
				return strings.ReplaceAll(strings.Join(words, " "), " ,", ",")
			}
		}
		words = append(words, t.text)
	}
}
