package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// place is the context of a template: the quoting there, and the role of the text in the command.
type place struct {
	quote quote
	role  role
}

type quote int

const (
	unread quote = iota // the shell would not expand a variable there
	bare
	double // "…"
	single // '…'
	ansi   // $'…', in bash only
	heredoc
	rawHeredoc   // with a quoted delimiter
	rawBackticks // the same inside `…`
)

type role int

const (
	argument    role = iota
	commandName      // also after exec and command
	assignment
	declaration // the value in export x=…
	declared    // another argument of export
	listItem    // of a for loop
	caseWord
	pattern
	target  // of a redirection
	operand // of [[ ]]
	arithmetic
	document
)

// String returns the role as messages name it.
func (r role) String() string {
	return [...]string{"an argument", "a command name", "an assignment", "an assignment", "a variable name", "a list item",
		"the word of a case", "a pattern", "a redirection", "an operand of [[ ]]", "arithmetic", "a here-document"}[r]
}

// locate finds the places of the marks, and whether only bash reads the command as it is meant.
func (d *draft) locate(file *syntax.File) {
	places := d.find(file)
	for i, p := range places {
		d.marks[i].place = p
	}
	if alike(file, d.text) {
		return
	}
	posix, err := parse(d.text, syntax.LangPOSIX)
	d.bash = err != nil || bashSyntax(file) || !slices.Equal(places, d.find(posix))
}

// find returns the places of the marks in a parsed command.
func (d *draft) find(file *syntax.File) []place {
	if len(d.marks) == 0 {
		return nil
	}
	places := make([]place, len(d.marks))
	var stack []syntax.Node
	within := func(from, to uint, q quote) {
		first, end := d.within(from, to)
		for i := first; i < end; i++ {
			places[i] = d.above(stack, q)
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *syntax.CmdSubst:
			for first, end := d.within(n.Pos().Offset(), n.End().Offset()); n.Backquotes && first < end; first++ {
				d.marks[first].ticked = true
			}
		case *syntax.ParamExp:
			if i, ok := d.marked(n); ok {
				places[i] = d.above(stack, bare)
			}
		case *syntax.SglQuoted:
			q := single
			if n.Dollar {
				q = ansi
			}
			within(n.Left.Offset(), n.Right.Offset(), q)
		case *syntax.Redirect:
			if n.Hdoc != nil && len(n.Hdoc.Parts) > 0 && quotedWord(n.Word) {
				q := rawHeredoc
				if slices.ContainsFunc(stack, func(n syntax.Node) bool { c, ok := n.(*syntax.CmdSubst); return ok && c.Backquotes }) {
					q = rawBackticks
				}
				within(n.Hdoc.Pos().Offset(), n.Hdoc.End().Offset(), q)
			}
		}
		return true
	})
	return places
}

// above derives a place from the path of syntax nodes that leads to it. q is the quoting of the last node.
func (d *draft) above(stack []syntax.Node, q quote) place {
	if q == rawHeredoc || q == rawBackticks {
		return place{q, document}
	}
	math, fallback := false, false
	as := func(r role) place {
		if math {
			r = arithmetic
		}
		return place{q, r}
	}
	for i := len(stack) - 2; i >= 0; i-- {
		child := stack[i+1]
		switch n := stack[i].(type) {
		case *syntax.DblQuoted:
			switch {
			case q == single && fallback: // in "${x:-'…'}" the inner quotes are literal
				q = double
			case q == ansi && fallback: // whether these are is for each shell to say
				q = unread
			case q == bare:
				q = double
			}
		case *syntax.ParamExp:
			switch {
			case n.Exp == nil || child != syntax.Node(n.Exp.Word):
				math = math || n.Repl == nil && (n.Slice != nil || n.Param == nil || !d.keyed(n.Param.Value)) // a subscript, or a part of the text
			case isPattern(n.Exp.Op):
				return place{q, pattern}
			default:
				fallback = true
			}
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			math = true
		case *syntax.Assign:
			if child != syntax.Node(n.Value) {
				math = math || !d.keyed(assignedName(n))
			}
			_, declares := stack[i-1].(*syntax.DeclClause)
			switch {
			case !declares:
				return as(assignment)
			case assignedName(n) != "":
				return as(declaration)
			}
			return as(declared)
		case *syntax.ArrayElem:
			return as(assignment)
		case *syntax.CallExpr:
			return as(inCall(n, child))
		case *syntax.WordIter:
			return as(listItem)
		case *syntax.CaseClause:
			return as(caseWord)
		case *syntax.CaseItem:
			return as(pattern)
		case *syntax.TestClause:
			return as(operand)
		case *syntax.Redirect:
			if child != syntax.Node(n.Hdoc) {
				return as(target)
			}
			if q == bare || q == single && fallback {
				q = heredoc
			}
			return as(document)
		case *syntax.Stmt:
			return as(argument)
		}
	}
	return as(argument)
}

func isPattern(op syntax.ParExpOperator) bool {
	return op >= syntax.RemSmallSuffix && op <= syntax.RemLargePrefix || op >= syntax.UpperFirst && op <= syntax.LowerAll
}

// inCall returns the role of a word in a simple command.
func inCall(c *syntax.CallExpr, word syntax.Node) role {
	i := slices.IndexFunc(c.Args, func(w *syntax.Word) bool { return syntax.Node(w) == word })
	if i == 0 {
		return commandName
	}
	switch c.Args[0].Lit() {
	case "[[":
		return operand
	case "set", ":":
		return listItem
	case "export", "readonly", "local", "declare", "typeset":
		text, _ := prefix(c.Args[i])
		if name, _, ok := strings.Cut(text, "="); ok && shellName(name) == name {
			return declaration
		}
		return declared
	case "exec", "command", "builtin":
		for _, a := range c.Args[1:i] {
			if text, ok := static(a); !ok || !strings.HasPrefix(text, "-") {
				return argument
			}
		}
		return commandName
	}
	return argument
}
