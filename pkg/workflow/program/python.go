package program

import (
	"slices"
	"strings"
)

// pythonScope is a function or a class whose body is being read.
type pythonScope struct {
	indent int
	// function is set for a function, global if that declares next as global.
	function, global bool
}

// python reads a Python program: the assignments in the module's own scope, and in functions with "global next".
func python(code string, n *Next) {
	var scopes []pythonScope
	for _, l := range pythonLines(code) {
		for len(scopes) > 0 && l.indent <= scopes[len(scopes)-1].indent {
			scopes = scopes[:len(scopes)-1]
		}
		for i := 0; i < len(l.tokens); {
			statement := l.tokens[i:]
			if head := pythonHeader(statement); head > 0 {
				statement = statement[:head]
			} else if end := topLevel(statement, 0, func(t token) bool { return t.is(punct, ";") }); end >= 0 {
				statement = statement[:end]
			}
			i += len(statement) + 1
			if len(statement) == 0 {
				continue
			}
			first := statement[0]
			if first.is(word, "async") {
				first = at(statement, 1)
			}
			if first.keyword("def class") {
				scopes = append(scopes, pythonScope{indent: l.indent, function: first.text == "def"})
				continue
			}
			if k := len(scopes) - 1; k >= 0 && !scopes[k].global {
				scopes[k].global = scopes[k].function && first.is(word, "global") && slices.ContainsFunc(statement, func(t token) bool { return t.is(word, name) })
				continue
			}
			pythonStatement(statement, n)
		}
	}
}

// pythonHeader returns the number of tokens before the colon that ends a compound statement's header. It returns 0 for a simple
// statement.
func pythonHeader(tokens []token) int {
	first := at(tokens, 0)
	compound := first.keyword("if elif else for while try except finally with def class async")
	if first.is(word, "case") { // a keyword only in a match statement
		compound = !at(tokens, 1).punctuation("= : . , ) ; == += -=")
	}
	if !compound {
		return 0
	}
	lambdas, depth := 0, 0
	for i, t := range tokens {
		switch {
		case opens(t):
			depth++
		case closes(t):
			depth--
		case depth > 0:
		case t.is(punct, ";"):
			return 0
		case t.is(word, "lambda"):
			lambdas++
		case t.is(punct, ":") && lambdas > 0:
			lambdas--
		case t.is(punct, ":"):
			return i
		}
	}
	return 0
}

// pythonStatement reads a simple statement, or the header of a compound one.
func pythonStatement(s []token, n *Next) {
	pythonWalrus(s, n)
	first := at(s, 0)
	switch {
	case first.keyword("for async"):
		end := topLevel(s, 0, func(t token) bool { return t.is(word, "in") })
		if start := topLevel(s, 0, func(t token) bool { return t.is(word, "for") }); start >= 0 && start < end && pythonTarget(s[start+1:end]) {
			n.other(s[0].at)
		}
		return
	case first.is(word, "import"), first.is(word, "from"):
		if i := topLevel(s, 0, func(t token) bool { return t.is(word, "import") }); i >= 0 {
			for k := i + 1; k < len(s); k++ {
				if s[k].is(word, name) && !at(s, k+1).is(word, "as") && !at(s, k-1).is(punct, ".") {
					n.other(s[k].at)
				}
			}
		}
		return
	case first.keyword("with except"):
		for k, t := range s {
			if t.is(word, name) && at(s, k-1).is(word, "as") {
				n.other(t.at)
			}
		}
		return
	case first.keyword("if elif else while try finally return del assert raise global nonlocal"):
		return
	case first.is(word, "case") && len(s) == 2 && s[1].is(word, name):
		n.other(s[1].at)
		return
	}
	pythonAssignment(s, n)
}

// pythonAssignment reads an assignment: of a value to one or more targets, with a type, or augmented.
func pythonAssignment(s []token, n *Next) {
	lambda := false // its parameters may have default values
	equals := func(t token) bool {
		lambda = lambda || t.is(word, "lambda")
		return !lambda && t.is(punct, "=")
	}
	last := topLevel(s, 0, equals)
	if colon := topLevel(s, 0, func(t token) bool { return t.is(punct, ":") }); colon >= 0 && (last < 0 || colon < last) {
		if target := unwrapped(s[:colon]); last >= 0 && len(target) == 1 && target[0].is(word, name) {
			pythonValue(s[last+1:], s[0].at, n)
		}
		return
	}
	if len(s) > 1 && s[0].is(word, name) && s[1].kind == punct && strings.HasSuffix(s[1].text, "=") && !s[1].punctuation("= == != <= >= :=") {
		n.other(s[0].at)
		return
	}
	var targets [][]token
	from := 0
	for ; last >= 0; last = topLevel(s, from, equals) {
		targets = append(targets, s[from:last])
		from = last + 1
	}
	for _, target := range targets {
		target = unwrapped(target)
		switch {
		case len(target) == 1 && target[0].is(word, name):
			pythonValue(s[from:], target[0].at, n)
		case pythonTarget(target):
			n.other(target[0].at)
		}
	}
}

// pythonTarget reports whether targets of an assignment include the variable.
func pythonTarget(s []token) bool {
	var grouping []bool // whether each open bracket groups targets, unlike that of a call or a subscript
	for i, t := range s {
		before := at(s, i-1)
		switch {
		case opens(t):
			grouping = append(grouping, i == 0 || before.punctuation("( [ , *"))
		case closes(t) && len(grouping) > 0:
			grouping = grouping[:len(grouping)-1]
		case t.is(word, name) && !before.is(punct, ".") && !at(s, i+1).punctuation(". ( ["):
			if !slices.Contains(grouping, false) {
				return true
			}
		}
	}
	return false
}

// pythonWalrus reads assignments inside of expressions.
func pythonWalrus(s []token, n *Next) {
	for i, t := range s {
		if !t.is(word, name) || !at(s, i+1).is(punct, ":=") {
			continue
		}
		if value := at(s, i+2); value.kind == text && value.constant && closes(at(s, i+3)) {
			n.literal(value.text, value.at)
		} else {
			n.other(t.at)
		}
	}
}

// pythonValue reads the value of an assignment: a text, None, or one of two such values by a condition.
func pythonValue(v []token, offset int, n *Next) {
	v = unwrapped(v)
	var joined strings.Builder
	constant := len(v) > 0
	for _, t := range v {
		if constant = t.kind == text && t.constant; !constant {
			break
		}
		joined.WriteString(t.text)
	}
	switch {
	case constant:
		n.literal(joined.String(), v[0].at)
		return
	case len(v) == 1 && v[0].is(word, "None"):
		return
	}
	then := topLevel(v, 0, func(t token) bool { return t.is(word, "if") })
	if then > 0 {
		if or := topLevel(v, then, func(t token) bool { return t.is(word, "else") }); or > 0 {
			pythonValue(v[:then], offset, n)
			pythonValue(v[or+1:], offset, n)
			return
		}
	}
	n.other(offset)
}
