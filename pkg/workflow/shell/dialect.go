package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// bashSyntax reports whether a command has syntax of bash that other shells can parse and understand otherwise.
func bashSyntax(file *syntax.File) (found bool) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CoprocClause:
			found = true
		case *syntax.DeclClause:
			found = found || listed(" declare typeset ", n.Variant.Value)
		case *syntax.Assign:
			found = found || n.Append
		case *syntax.ArithmExp:
			found = found || n.Bracket
		case *syntax.Redirect:
			found = found || n.N != nil && strings.HasPrefix(n.N.Value, "{")
		case *syntax.SglQuoted:
			found = found || n.Dollar
		case *syntax.DblQuoted:
			found = found || n.Dollar
		}
		return !found
	})
	return found
}

// alike reports whether a command that bash can parse has only syntax that every shell parses in the same way, so that it need not be
// parsed as POSIX shell too.
func alike(file *syntax.File, text string) bool {
	alike := !strings.Contains(text, "((")
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.File, *syntax.CallExpr, *syntax.Word, *syntax.Lit, *syntax.Comment, *syntax.Block, *syntax.Subshell, *syntax.IfClause,
			*syntax.WhileClause:
		case *syntax.Stmt:
			alike = alike && !n.Coprocess && !n.Disown
		case *syntax.BinaryCmd:
			alike = alike && n.Op != syntax.PipeAll
		case *syntax.SglQuoted:
			alike = alike && !n.Dollar
		case *syntax.DblQuoted:
			alike = alike && !n.Dollar
		case *syntax.Assign:
			alike = alike && !n.Append && n.Index == nil && n.Array == nil && n.Name != nil && shellName(n.Name.Value) == n.Name.Value
		case *syntax.ParamExp:
			alike = alike && plainExpansion(n)
		case *syntax.CmdSubst:
			alike = alike && !n.Backquotes && !n.TempFile && !n.ReplyVar
		case *syntax.Redirect:
			alike = alike && (n.Op == syntax.RdrOut || n.Op == syntax.AppOut || n.Op == syntax.RdrIn || n.Op == syntax.DplOut) && (n.N == nil || !strings.HasPrefix(n.N.Value, "{"))
		default:
			alike = false
		}
		return alike
	})
	return alike
}

// plainExpansion reports whether an expansion is only that of a variable: $x or ${x}.
func plainExpansion(n *syntax.ParamExp) bool {
	return n.Param != nil && shellName(n.Param.Value) == n.Param.Value && n.Exp == nil && n.Repl == nil && n.Slice == nil && n.Index == nil &&
		n.Flags == nil && n.NestedParam == nil && n.Modifiers == nil && n.Names == 0 && !n.Excl && !n.Length && !n.Width && !n.IsSet
}

// misplaced reports the marks that the shell does not expand, or splits into words.
func (d *draft) misplaced() {
	for i := range d.marks {
		m := &d.marks[i]
		switch v := m.expr; {
		case m.faulty:
		case d.escaped(m) && !m.ticked && m.place.quote == unread && plain(v.String()):
			m.literal = true
			d.caution(m, Literal, fmt.Sprintf("%s is literal text: a backslash precedes it", v), fmt.Sprintf(`Remove the backslash for the value; for the literal text write '$%s' in single quotes`, v))
		case d.escaped(m): // also inside backticks, where the shell would expand it
			d.blame(m, Literal, fmt.Sprintf("the shell would not expand %s: a backslash precedes it", v), fmt.Sprintf("Remove the backslash; a literal is written $%s", v))
		case m.place.quote == unread:
			d.blame(m, Literal, fmt.Sprintf("the shell would not expand %s here", v), fmt.Sprintf(`Put it in double quotes: "%s"; a literal is written $%[1]s`, v))
		case m.place.quote == rawBackticks:
			d.blame(m, Literal, fmt.Sprintf("%s is in a quoted here-document inside backticks", v), "Write $(…) instead of the backticks")
		case m.number:
		case m.place == place{bare, argument}:
			d.caution(m, Unquoted, fmt.Sprintf("%s is not quoted: the shell splits it into words and expands * ? [ in it to file names", v), fmt.Sprintf(`Put the word in double quotes: "%s"`, v))
		case m.place == place{bare, pattern}:
			d.caution(m, Unquoted, fmt.Sprintf("%s is not quoted in a pattern: * ? [ in it match other text", v), fmt.Sprintf(`Put it in double quotes: "%s"`, v))
		case d.whole():
			d.caution(m, Command, fmt.Sprintf("%s is the whole command: its value is one word, the name of a program", v), WholeCommand)
		}
	}
}

// whole reports whether the command consists of one template.
func (d *draft) whole() bool {
	return len(d.marks) == 1 && strings.Trim(d.text, "\"' \t\n") == d.text[d.marks[0].from:d.marks[0].to]
}

// WholeCommand says what to do if the value of a command's only template is a command with arguments.
const WholeCommand = `If the value is a whole command, put "unsafe_templates": true beside "params"; then it is run as it is, so only with values that you trust`

// plain reports whether a template's source means itself in double quotes and without quotes.
func plain(source string) bool {
	return strings.Trim(source, "${}.-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// escaped reports whether a backslash escapes the mark.
func (d *draft) escaped(m *mark) bool {
	before := d.text[:m.from]
	backslashes := len(before) - len(strings.TrimRight(before, `\`))
	return backslashes%2 == 1 && m.place.quote != single && m.place.quote != rawHeredoc
}

// syntaxError returns the offset in the command of a parser's error, and its text.
func (d *draft) syntaxError(err error) (at int, what string) {
	offset := uint(0)
	if e, ok := errors.AsType[syntax.ParseError](err); ok {
		offset, what = e.Pos.Offset(), e.Text
	}
	if e, ok := errors.AsType[syntax.LangError](err); ok {
		offset, what = e.Pos.Offset(), e.Feature
	}
	for _, m := range d.marks {
		what = strings.ReplaceAll(what, d.text[m.from:m.to], m.expr.String())
	}
	return d.original(offset), what
}
