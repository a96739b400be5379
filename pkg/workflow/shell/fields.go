package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// globs are the characters that mean more than themselves in a field, unless there is a backslash before them.
const globs = `*?[~\`

// unknown is in a field whose text only the shell will know.
const unknown = "\x00"

// fields are what the shell makes of a word, as far as it is known: with the values of variables, of which those that
// stand bare are split. The home folder is ~, also where it is $HOME.
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

// expanding is a word while its fields are put together.
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

// literal adds text that stands in no quotes. A ~ is the home folder in front alone.
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

// split adds a value that stands in no quotes.
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

// value is what an expansion gives.
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

// protected is a text whose characters mean themselves.
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
