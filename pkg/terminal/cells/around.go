package cells

import "strings"

// Expand returns a text with four blanks for each tab, so that it takes as many columns wherever it begins.
func Expand(text string) string { return strings.ReplaceAll(text, "\t", "    ") }

// Around returns the part of a text without tabs that is around a column, and the column in that part. It has at most most columns,
// which must be at least 4, with … in place of what is cut off on either side. Columns count from 0.
func Around(text string, column, most int) (part string, at int) {
	total := Width(text)
	if total <= most && column < most {
		return text, column
	}
	start := min(max(0, column-most/2+1), max(0, total-most+1))
	if start == 0 {
		return Cut(text, most), column
	}
	left := 0
	for i, r := range text {
		if n := width(r); left >= start && n > 0 { // what takes no column belongs to the character before it
			text = text[i:]
			break
		}
		left += width(r)
	}
	return Cut("…"+text, most), column - left + 1
}
