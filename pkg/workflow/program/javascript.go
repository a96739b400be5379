package program

// jsGroup is an open bracket of JavaScript.
type jsGroup struct {
	open string
	// before is the token before the bracket.
	before token
	// class is set for the body of a class.
	class bool
	// shadows is set if the block declares a variable next of its own.
	shadows bool
	// bare is set if next stands directly in the group, as in parameters or in a pattern.
	bare bool
	// found is what was found before the group.
	found Next
}

// javascript reads a JavaScript program: the assignments to the variable next of the whole program, also those in functions,
// unless a function or block declares a variable of that name.
func javascript(code string, n *Next) {
	r := &jsReader{tokens: jsTokens(code), n: n, groups: []jsGroup{{open: "{"}}}
	for r.i = range r.tokens {
		r.token(r.tokens[r.i])
	}
}

type jsReader struct {
	tokens []token
	// i is the index of the current token.
	i      int
	groups []jsGroup
	n      *Next
	// class is set between the keyword class and its body, shadows between parameters with next and their body.
	class, shadows bool
	// shadowing counts the open groups in which next is another variable.
	shadowing int
	// seen counts the occurrences of next.
	seen int
}

// maxSeen bounds the occurrences of next that are read, and maxValue the tokens of a value. What exceeds them counts as another
// value.
const (
	maxSeen  = 2000
	maxValue = 500
)

// push opens a group.
func (r *jsReader) push(g jsGroup) {
	if g.shadows {
		r.shadowing++
	}
	r.groups = append(r.groups, g)
}

// pop closes the innermost group.
func (r *jsReader) pop() jsGroup {
	g := r.groups[len(r.groups)-1]
	r.groups = r.groups[:len(r.groups)-1]
	if g.shadows {
		r.shadowing--
	}
	return g
}

// declare notes that the innermost block declares next. It reports whether that is not the block of the program.
func (r *jsReader) declare() bool {
	for k := len(r.groups) - 1; k > 0; k-- {
		if r.groups[k].open == "{" {
			if !r.groups[k].shadows {
				r.groups[k].shadows = true
				r.shadowing++
			}
			return true
		}
	}
	return len(r.groups) > 1 // in the head of a for statement
}

func (r *jsReader) token(t token) {
	before, after := at(r.tokens, r.i-1), at(r.tokens, r.i+1)
	switch {
	case opens(t):
		g := jsGroup{open: t.text, before: before, found: *r.n}
		if t.text == "{" {
			g.class, g.shadows = r.class, r.shadows
			r.class, r.shadows = false, false
		}
		r.push(g)
	case closes(t) && len(r.groups) > 1:
		r.close(r.pop(), after)
	case t.is(word, "class") && !before.is(punct, "."):
		r.class = true
	case t.is(word, name) && !before.punctuation(". ?."):
		if r.seen++; r.seen > maxSeen {
			r.n.other(t.at)
			return
		}
		r.variable(before, after)
	}
}

// close ends a group.
func (r *jsReader) close(g jsGroup, after token) {
	arrow := after.is(punct, "=>")
	body := after.is(punct, "{") && (g.before.is(punct, "*") || g.before.kind == word && !g.before.keyword("if while for switch with await"))
	outer := &r.groups[len(r.groups)-1]
	switch {
	case g.open == "(" && (arrow || body): // parameters
		*r.n = g.found
		r.shadows = g.bare && (body || at(r.tokens, r.i+2).is(punct, "{"))
	case g.bare && after.is(punct, "="): // a pattern
		*r.n = g.found
		if g.before.keyword("let const var") && r.declare() || r.shadowing > 0 {
			return
		}
		r.n.other(r.tokens[r.i].at)
	case g.bare && g.open != "(" && outer.open != "{": // part of a pattern, or of parameters
		outer.bare = true
	}
}

// variable reads an occurrence of next that is not a property.
func (r *jsReader) variable(before, after token) {
	g := &r.groups[len(r.groups)-1]
	if g.class || g.open == "{" && after.is(punct, ":") && before.punctuation("{ ,") {
		return // a field of a class, or a key of an object
	}
	g.bare = g.bare || g.open != "{" || before.punctuation("{ , : ...")
	here := r.tokens[r.i].at
	switch {
	case before.keyword("let const var") && r.declare(), r.shadowing > 0:
	case after.is(punct, "="):
		r.value(here)
	case after.punctuation("+= ??= ||= &&= -= *= ++ --"), before.punctuation("++ --"),
		after.keyword("of in") && g.open == "(" && g.before.keyword("for await"):
		r.n.other(here)
	}
}

// value reads the value of an assignment to next, at the given offset.
func (r *jsReader) value(offset int) {
	from := r.i + 2
	end := from
	depth, choices := 0, 0
	for ; end < len(r.tokens) && end-from <= maxValue; end++ {
		t, before := r.tokens[end], r.tokens[end-1]
		switch {
		case opens(t):
			depth++
			continue
		case closes(t):
			depth--
		case depth > 0:
			continue
		case t.is(punct, "?"):
			choices++
			continue
		case t.is(punct, ":"):
			choices--
		}
		ended := t.newline && (before.kind != punct || closes(before)) && (t.kind != punct || t.punctuation("{ } ++ -- ! ~")) && !t.keyword("instanceof in")
		if depth < 0 || choices < 0 || depth == 0 && (t.punctuation("; ,") || ended && end > from) {
			break
		}
	}
	if end-from > maxValue {
		r.n.other(offset)
		return
	}
	r.choice(r.tokens[min(from, end):end], offset)
}

// choice reads a value: a text, no value, or one of two such values by a condition.
func (r *jsReader) choice(v []token, offset int) {
	v = unwrapped(v)
	first := at(v, 0)
	switch {
	case len(v) == 1 && first.kind == text && first.constant:
		r.n.literal(first.text, first.at)
		return
	case len(v) == 1 && first.keyword("null undefined"):
		return
	case first.kind == word && at(v, 1).is(punct, "="): // next = other = value
		r.choice(v[2:], offset)
		return
	}
	then := topLevel(v, 0, func(t token) bool { return t.is(punct, "?") })
	if then <= 0 {
		r.n.other(offset)
		return
	}
	nested := 0
	or := topLevel(v, then+1, func(t token) bool {
		switch {
		case t.is(punct, "?"):
			nested++
		case t.is(punct, ":"):
			nested--
		}
		return nested < 0
	})
	if or < 0 {
		r.n.other(offset)
		return
	}
	r.choice(v[then+1:or], offset)
	r.choice(v[or+1:], offset)
}
