package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// globs are the characters with a special meaning in a field, unless a backslash precedes them.
const globs = `*?[~\`

// unknown stands for the part of a field that is known only when the command runs.
const unknown = "\x00"

// fields returns the fields into which the shell expands a word, as far as they are known. Variables have the given values,
// which are split where they are not quoted. The home folder is ~, also where it is $HOME.
func (d *danger) fields(w *syntax.Word) []string {
	if w == nil {
		return nil
	}
	e := expanding{values: d.values}
	for i, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			e.literal(p.Value, i == 0)
		case *syntax.SglQuoted:
			e.add(protected(p.Value))
		case *syntax.DblQuoted:
			e.add("")
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					e.add(protected(unescaped(lit.Value, "$`\"\\")))
				} else {
					e.add(e.value(q, protected))
				}
			}
		default:
			e.split(e.value(p, func(s string) string { return s }))
		}
	}
	return e.end()
}

// expanding is a word while its fields are built.
type expanding struct {
	values map[string]string
	done   []string
	text   strings.Builder
	begun  bool
}

func (e *expanding) add(s string) {
	e.text.WriteString(s)
	e.begun = true
}

// literal adds text that is not quoted. A ~ is the home folder only at the front.
func (e *expanding) literal(s string, front bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' {
				e.add(protected(s[i : i+1]))
			}
		case s[i] == '~' && (!front || i > 0):
			e.add(`\~`)
		default:
			e.add(s[i : i+1])
		}
	}
}

// split adds a value that is not quoted.
func (e *expanding) split(value string) {
	for i, field := range strings.FieldsFunc(" "+value+" ", func(r rune) bool { return strings.ContainsRune(" \t\n", r) }) {
		if i > 0 || strings.ContainsAny(value[:1], " \t\n") {
			e.next()
		}
		e.add(field)
	}
	if value != "" && strings.ContainsAny(value[len(value)-1:], " \t\n") {
		e.next()
	}
}

func (e *expanding) next() {
	if e.begun {
		e.done = append(e.done, e.text.String())
	}
	e.text.Reset()
	e.begun = false
}

func (e *expanding) end() []string {
	e.next()
	return e.done
}

// value returns the value of an expansion.
func (e *expanding) value(p syntax.WordPart, quoting func(string) string) string {
	name := plainVariable(&syntax.Word{Parts: []syntax.WordPart{p}})
	if v, ok := e.values[name]; ok {
		return quoting(v)
	}
	if name == "HOME" {
		return "~"
	}
	return unknown
}

// protected returns a text with backslashes before its special characters.
func protected(s string) string {
	if !strings.ContainsAny(s, globs) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(globs, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
