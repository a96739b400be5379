package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// compare reports the marks whose place differs in the POSIX dialect, and those that no dialect expands.
func (d *draft) compare(posix []place) {
	for i := range d.marks {
		m := &d.marks[i]
		here, there := m.place, posix[i]
		switch v := m.expr; {
		case m.faulty:
		case here.quote == ansi || here.quote == localized:
			d.blame(i, fmt.Sprintf("%s is in $'…' or $\"…\", which shells read differently", v), fmt.Sprintf(`Write it in double quotes: "%s"`, v))
		case d.escaped(m): // also inside backticks, where the shell would expand it
			d.blame(i, fmt.Sprintf("the shell would not expand %s: a backslash precedes it", v), fmt.Sprintf("Remove the backslash; a literal is written $%s", v))
		case here.quote == unread:
			d.blame(i, fmt.Sprintf("the shell would not expand %s here", v), fmt.Sprintf(`Put it in double quotes: "%s"; a literal is written $%[1]s`, v))
		case here.quote == rawBackticks:
			d.blame(i, fmt.Sprintf("%s is in a quoted here-document inside backticks", v), "Write $(…) instead of the backticks")
		case here == place{double, commandName} && there == place{double, argument}: // after time, a keyword of bash
		case here != there:
			form := `Use a form that every sh understands, or let bash run it: bash -c '… "$1" …' bash "%s"`
			switch here.role {
			case operand:
				form = `Write [ "%s" = "…" ], or case "%[1]s" in … esac for a pattern`
			case commandName:
				form = `Put it in double quotes: "%s"`
			case assignment:
				form = `Write x="$x"%s for x+=%[1]s`
			}
			d.blame(i, fmt.Sprintf("shells disagree on the role of %s: for bash it is %s, for others %s", v, here.role, there.role), fmt.Sprintf(form, v))
		case here.role == operand:
			d.warn(i, fmt.Sprintf("%s is in [[ ]], which only bash understands: /bin/sh may be another shell", v), fmt.Sprintf(`Write [ "%s" = "…" ], or case "%[1]s" in … esac for a pattern`, v))
		case here == place{bare, argument}:
			d.warn(i, fmt.Sprintf("%s is not quoted: the shell splits it into words and expands * ? [ in it to file names", v), fmt.Sprintf(`Put the word in double quotes: "%s"`, v))
		case here == place{bare, pattern}:
			d.warn(i, fmt.Sprintf("%s is not quoted in a pattern: * ? [ in it match other text", v), fmt.Sprintf(`Put it in double quotes: "%s"`, v))
		}
	}
}

// escaped reports whether a backslash escapes the mark.
func (d *draft) escaped(m *mark) bool {
	before := d.text[:m.from]
	backslashes := len(before) - len(strings.TrimRight(before, `\`))
	return backslashes%2 == 1 && m.place.quote != single && m.place.quote != rawHeredoc
}

// posixForms maps a part of an error of the POSIX parser to the portable form to write instead.
var posixForms = [][2]string{
	{"herestrings", `printf '%s\n' "…" | command`},
	{"redirects", "command >file 2>&1"},
	{"`[[`", `[ "…" = "…" ], or case "…" in … esac for a pattern`},
	{"arrays", `set -- a b c, then "$@" or for x in "$@"`},
	{"c-style fors", `i=0; while [ "$i" -lt 3 ]; do …; i=$((i + 1)); done`},
	{"`function`", "name() { …; }"},
	{"slicing", `$(printf '%s' "$x" | cut -c 1-8)`},
	{"search and replace", `$(printf '%s' "$x" | sed 's/a/b/')`},
	{"extended globs", `case "…" in a|b) … esac`},
	{"must be followed by a word", "a file or a pipe instead of <(…)"},
	{"expansion operator", `$(printf '%s' "$x" | tr a-z A-Z)`},
}

// bashOnly reports that a command with templates is not valid POSIX shell.
func (d *draft) bashOnly(err error) {
	at, what := d.syntaxError(err)
	form := "Use a form that every sh understands"
	for _, f := range posixForms {
		if strings.Contains(what, f[0]) {
			form = "Write " + f[1]
			break
		}
	}
	d.add(Problem{Offset: at, Message: fmt.Sprintf("only bash can parse this command (%s); /bin/sh may be another shell, which would read its templates in other places", what),
		Suggest: fmt.Sprintf(`%s; or let bash run it: bash -c '… "$1" …' bash "%s"`, form, d.marks[0].expr)})
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
