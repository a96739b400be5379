package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// render records the edits that the places of the marks require. A plain reference needs none in double quotes, in
// here-documents, where the shell does not split words, and unquoted, where the author wants splitting.
func (d *draft) render(file *syntax.File) {
	for _, m := range d.marks {
		ref := d.text[m.from:m.to]
		switch {
		case m.literal:
			d.edits = append(d.edits, edit{m.from, m.to, m.expr.String()})
		case m.place.quote == ansi:
			d.edits = append(d.edits, edit{m.from, m.to, `'"` + ref + `"$'`})
		case m.place.quote == single: // close the quotes around it
			d.edits = append(d.edits, edit{m.from, m.to, `'"` + ref + `"'`})
		case m.place == place{bare, commandName}, m.place == place{bare, declaration}:
			d.edits = append(d.edits, edit{m.from, m.to, `"` + ref + `"`})
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && r.Hdoc != nil && quotedWord(r.Word) {
			if first, end := d.within(r.Hdoc.Pos().Offset(), r.Hdoc.End().Offset()); first < end {
				d.openHeredoc(r, first, end)
			}
		}
		return true
	})
}

// openHeredoc turns a here-document with a quoted delimiter into one with an unquoted delimiter, and escapes everything in
// it except the templates, so that the rest stays verbatim.
func (d *draft) openHeredoc(r *syntax.Redirect, first, last int) {
	delimiter, _ := static(r.Word)
	start := r.Hdoc.Pos().Offset()
	end, found := start, false
	for !found && end < uint(len(d.text)) {
		line, _, _ := strings.Cut(d.text[end:], "\n")
		if r.Op == syntax.DashHdoc {
			indent := len(line) - len(strings.TrimLeft(line, "\t"))
			end, line = end+uint(indent), line[indent:]
		}
		if found = line == delimiter; !found {
			end += uint(len(line)) + 1
		}
	}
	if !found { // such as lines that end with a carriage return: a shell would not find it either
		d.blame(&d.marks[first], Syntax, fmt.Sprintf("%s is in a here-document without an end", d.marks[first].expr), "End it with a line that consists of "+delimiter)
		return
	}
	var b strings.Builder
	at := start
	for _, m := range d.marks[first:last] {
		b.WriteString(escapeHeredoc(d.text[at:m.from]) + d.text[m.from:m.to])
		at = m.to
	}
	b.WriteString(escapeHeredoc(d.text[at:end]))
	d.edits = append(d.edits, edit{start, end, b.String()})

	plain := delimiter
	if strings.Trim(delimiter, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" || delimiter == "" {
		lines := strings.FieldsFunc(b.String(), func(r rune) bool { return r == '\n' || r == '\t' })
		for i := 0; plain == delimiter || slices.Contains(lines, plain); i++ {
			plain = fmt.Sprintf("EOF%d", i)
		}
		d.edits = append(d.edits, edit{end, end + uint(len(delimiter)), plain})
	}
	d.edits = append(d.edits, edit{r.Word.Pos().Offset(), r.Word.End().Offset(), plain})
}

func escapeHeredoc(text string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", `$`, `\$`).Replace(text)
}
