package yaml

import "strings"

// blockText parses the text after | or >: the lines that are indented more than the column parent.
func (r *reader) blockText(parent int) Node {
	n := Node{Kind: Literal, At: r.pos}
	if r.peek(0) == '>' {
		n.Kind = Folded
	}
	b := blockText{indent: -1, folded: n.Kind == Folded}
	for r.pos++; strings.IndexByte("+-123456789", r.peek(0)) >= 0 && r.peek(0) != 0; r.pos++ {
		if c := r.peek(0); c == '+' || c == '-' {
			b.chomp = c
		} else {
			b.indent = max(parent, 0) + int(c-'0')
		}
	}
	if !r.skipRest() {
		r.fail(r.pos, "Start the text on the next line, or put it into double quotes", "text in the line of | or >, where it must start on the next line")
		return n
	}
	for !r.lastLine() {
		ahead := *r
		ahead.startLine(ahead.next)
		for ahead.peek(0) == ' ' && (b.indent < 0 || ahead.column() < b.indent) {
			ahead.pos++
		}
		if ahead.pos == ahead.stop {
			*r = ahead
			b.breaks++
			continue
		}
		if b.indent < 0 && ahead.column() > parent {
			b.indent = ahead.column()
		}
		if ahead.column() < b.indent || b.indent < 0 {
			break
		}
		b.line(ahead.text[ahead.pos:ahead.stop])
		ahead.pos = ahead.stop
		*r = ahead
	}
	n.Text = b.text()
	return n
}

// blockText collects the text after | or >.
type blockText struct {
	out    []byte
	indent int
	folded bool
	// chomp says which line breaks at the end belong to the text: one by default, all for +, none for -.
	chomp byte
	// breaks counts the empty lines since the last line. spaced reports whether that line starts with a blank.
	breaks        int
	begun, spaced bool
}

// line appends a line. In folded text a single line break becomes a space, unless a line beside it starts with a blank.
func (b *blockText) line(s string) {
	spaced := isBlank(s[0])
	switch {
	case !b.begun:
	case b.folded && !spaced && !b.spaced && b.breaks == 0:
		b.out = append(b.out, ' ')
	case b.folded && !spaced && !b.spaced:
	default:
		b.out = append(b.out, '\n')
	}
	b.flush()
	b.out = append(b.out, s...)
	b.begun, b.spaced = true, spaced
}

// flush appends the line breaks of the empty lines.
func (b *blockText) flush() {
	for ; b.breaks > 0; b.breaks-- {
		b.out = append(b.out, '\n')
	}
}

func (b *blockText) text() string {
	if b.begun && b.chomp != '-' {
		b.out = append(b.out, '\n')
	}
	if b.chomp == '+' {
		b.flush()
	}
	return string(b.out)
}
