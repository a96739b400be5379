package yaml

import "strings"

// blockText reads the text after | or >: the lines that are indented more than the column parent.
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
	if !r.blankAhead() {
		r.fail(r.pos, "Begin the text on the next line, or put it into double quotes", "text in the line of | or >")
		return n
	}
	for !r.atEnd() {
		look := *r
		look.begin(look.next)
		for look.peek(0) == ' ' && (b.indent < 0 || look.column() < b.indent) {
			look.pos++
		}
		if look.pos == look.stop {
			*r = look
			b.breaks++
			continue
		}
		if b.indent < 0 && look.column() > parent {
			b.indent = look.column()
		}
		if look.column() < b.indent || b.indent < 0 {
			break
		}
		b.line(look.text[look.pos:look.stop])
		look.pos = look.stop
		*r = look
	}
	n.Text = b.text()
	return n
}

// blockText is the text after | or > so far.
type blockText struct {
	out    []byte
	indent int
	folded bool
	// chomp says which breaks at the end are text: one, or with + all, with - none.
	chomp byte
	// breaks counts the blank lines since the last line; spaced says that that one begins with a blank.
	breaks        int
	begun, spaced bool
}

// line appends a line. In folded text one break between two lines is a space, if neither begins with a blank.
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
	b.end()
	b.out = append(b.out, s...)
	b.begun, b.spaced = true, spaced
}

// end writes the breaks of the blank lines.
func (b *blockText) end() {
	for ; b.breaks > 0; b.breaks-- {
		b.out = append(b.out, '\n')
	}
}

func (b *blockText) text() string {
	if b.begun && b.chomp != '-' {
		b.out = append(b.out, '\n')
	}
	if b.chomp == '+' {
		b.end()
	}
	return string(b.out)
}
