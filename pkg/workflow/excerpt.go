package workflow

// Excerpt returns the line of the file at a place, shortened if it is long, and a line with a mark below the place. Both are
// empty if the place is not in the file.
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
