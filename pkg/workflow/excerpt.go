package workflow

// Excerpt is the line of the file around a place, cut where it is long, and below it a mark at the place; empty for a place
// that is not in the file.
func (f *File) Excerpt(line, column int) (text, mark string) {
	f.text.place(0)
	if line < 1 || line > len(f.text.lines) || column < 1 {
		return "", ""
	}
	offset := f.text.lines[line-1] + column - 1
	if offset > len(f.text.s) {
		return "", ""
	}
	return f.text.show(offset)
}
