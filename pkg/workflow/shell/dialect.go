package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// compare blames the marks that stand elsewhere in the POSIX dialect, and those that are no values in either.
func (d *draft) compare(posix []place) {
	for i := range d.marks {
		m := &d.marks[i]
		here, there := m.place, posix[i]
		switch v := m.expr; {
		case m.faulty:
		case here.quote == ansi || here.quote == localized:
			d.blame(i, fmt.Sprintf("%s stands in $'…' or $\"…\", which some shells read otherwise", v), fmt.Sprintf(`Write it in double quotes: "%s"`, v))
		case d.escaped(m): // also within backticks, where it would be read
			d.blame(i, fmt.Sprintf("%s stands where the shell would not read it as a value, for there is a backslash before it", v), fmt.Sprintf("Leave out the backslash; a literal is written $%s", v))
		case here.quote == unread:
			d.blame(i, fmt.Sprintf("%s stands where the shell would not read it as a value", v), fmt.Sprintf(`Put it in double quotes: "%s"; a literal is written $%[1]s`, v))
		case here.quote == rawBackticks:
			d.blame(i, fmt.Sprintf("%s stands in a quoted here-document within backticks", v), "Write $(…) instead of the backticks")
		case here == place{double, commandName} && there == place{double, argument}: // behind time, a keyword of bash
		case here != there:
			form := `Write it as every sh reads it, or let bash run it: bash -c '… "$1" …' bash "%s"`
			switch here.role {
			case operand:
				form = `Write [ "%s" = "…" ], or case "%[1]s" in … esac for a pattern`
			case commandName:
				form = `Put it in double quotes: "%s"`
			case assignment:
				form = `Write x="$x"%s for x+=%[1]s`
			}
			d.blame(i, fmt.Sprintf("%s stands in a place that shells read differently: for bash it is %s, for others %s", v, here.role, there.role), fmt.Sprintf(form, v))
		case here.role == operand:
			d.warn(i, fmt.Sprintf("%s stands in [[ ]], which is bash's: /bin/sh may be a shell that does not have it", v), fmt.Sprintf(`Write [ "%s" = "…" ], or case "%[1]s" in … esac for a pattern`, v))
		case here == place{bare, argument}:
			d.warn(i, fmt.Sprintf("%s is not quoted: the shell splits it into words, and makes file names of * ? [ in it", v), fmt.Sprintf(`Put the word in double quotes: "%s"`, v))
		case here == place{bare, pattern}:
			d.warn(i, fmt.Sprintf("%s is not quoted in a pattern: * ? [ in it match other text", v), fmt.Sprintf(`Put it in double quotes: "%s"`, v))
		}
	}
}

// escaped says whether there is a backslash before a mark that is none in quotes.
func (d *draft) escaped(m *mark) bool {
	before := d.text[:m.from]
	backslashes := len(before) - len(strings.TrimRight(before, `\`))
	return backslashes%2 == 1 && m.place.quote != single && m.place.quote != rawHeredoc
}

// posixForms says how to write without bash what a parser of the POSIX dialect complains about, by a part of the complaint.
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

// bashOnly notes that the POSIX dialect cannot read a command with templates.
func (d *draft) bashOnly(err error) {
	at, what := d.syntaxError(err)
	form := "Write it as every sh reads it"
	for _, f := range posixForms {
		if strings.Contains(what, f[0]) {
			form = "Write " + f[1]
			break
		}
	}
	d.add(Problem{Offset: at, Message: fmt.Sprintf("bash alone can read this command (%s), and /bin/sh may be another shell, which would read its templates elsewhere", what),
		Suggest: fmt.Sprintf(`%s; or let bash run it: bash -c '… "$1" …' bash "%s"`, form, d.marks[0].expr)})
}

// syntaxError is the place in the command of what a parser could not read, and what it says.
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
