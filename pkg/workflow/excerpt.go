package workflow

import "slices"

// Excerpt returns the line of a place that Place has returned, shortened if it is long, and a line with a mark below the place.
// Both are empty if there is no such place.
func (f *File) Excerpt(file string, line, column int) (text, mark string) {
	if f.outer != nil {
		return f.outer.Excerpt(file, line, column)
	}
	in := f.text
	if i := slices.IndexFunc(f.included, func(in *inclusion) bool { return in.name == file }); i >= 0 {
		in = f.included[i].text
	} else if file != f.Name {
		return "", ""
	}
	in.place(0)
	if line < 1 || line > len(in.lines) || column < 1 {
		return "", ""
	}
	offset := in.lines[line-1] + column - 1
	if offset > len(in.s) {
		return "", ""
	}
	return in.show(offset)
}
