// Package cells measures, cuts and cleans text for the columns of a terminal.
package cells

import (
	"strings"
	"unicode"
)

// Clean returns a text as one line that is safe to show. White space becomes one blank. Characters that are invisible, or
// that control a terminal or the direction of the text, become U+FFFD.
func Clean(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = strings.Map(replaceUnsafe, word)
	}
	return strings.Join(words, " ")
}

// Lines returns the lines of a text, each safe to show as by Clean, but with its white space. Blank lines at both ends are
// left out.
func Lines(text string) []string {
	lines := strings.Split(strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.Map(replaceUnsafe, strings.ReplaceAll(strings.TrimRightFunc(line, unicode.IsSpace), "\t", "    "))
	}
	return lines
}

// replaceUnsafe replaces a character that is not safe to show by U+FFFD.
func replaceUnsafe(r rune) rune {
	if unicode.IsGraphic(r) || unicode.Is(unicode.Join_Control, r) {
		return r
	}
	return unicode.ReplacementChar
}

// Width returns how many columns a cleaned text takes. If terminals differ, as for joined emoji, it returns the largest
// number.
func Width(text string) (n int) {
	for _, r := range text {
		n += width(r)
	}
	return n
}

func width(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r == 0xfe0f: // selects the wide form of the character before it
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// Cut returns a text of at most most columns, with … in place of what is cut off.
func Cut(text string, most int) string {
	if Width(text) <= most {
		return text
	}
	if most < 1 {
		return ""
	}
	n := 1
	for i, r := range text {
		if n += width(r); n > most {
			return text[:i] + "…"
		}
	}
	return text
}

// wide contains the characters that take two columns: those of East Asian width W and F, and emoji.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1},
		{0x231a, 0x231b, 1},
		{0x2329, 0x232a, 1},
		{0x23e9, 0x23ec, 1},
		{0x23f0, 0x23f3, 3},
		{0x25fd, 0x25fe, 1},
		{0x2614, 0x2615, 1},
		{0x2630, 0x2637, 1},
		{0x2648, 0x2653, 1},
		{0x267f, 0x267f, 1},
		{0x268a, 0x268f, 1},
		{0x2693, 0x2693, 1},
		{0x26a1, 0x26a1, 1},
		{0x26aa, 0x26ab, 1},
		{0x26bd, 0x26be, 1},
		{0x26c4, 0x26c5, 1},
		{0x26ce, 0x26ce, 1},
		{0x26d4, 0x26d4, 1},
		{0x26ea, 0x26ea, 1},
		{0x26f2, 0x26f3, 1},
		{0x26f5, 0x26f5, 1},
		{0x26fa, 0x26fa, 1},
		{0x26fd, 0x26fd, 1},
		{0x2705, 0x2705, 1},
		{0x270a, 0x270b, 1},
		{0x2728, 0x2728, 1},
		{0x274c, 0x274e, 2},
		{0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1},
		{0x2795, 0x2797, 1},
		{0x27b0, 0x27bf, 15},
		{0x2b1b, 0x2b1c, 1},
		{0x2b50, 0x2b55, 5},
		{0x2e80, 0x303e, 1},
		{0x3041, 0xa4cf, 1},
		{0xa960, 0xa97f, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe10, 0xfe19, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff01, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18dff, 1},
		{0x1aff0, 0x1b2ff, 1},
		{0x1d300, 0x1d37f, 1},
		{0x1f004, 0x1f004, 1},
		{0x1f0cf, 0x1f0cf, 1},
		{0x1f18e, 0x1f19a, 1},
		{0x1f200, 0x1f64f, 1},
		{0x1f680, 0x1f6ff, 1},
		{0x1f7e0, 0x1f7ff, 1},
		{0x1f900, 0x1faff, 1},
		{0x20000, 0x3fffd, 1},
	},
}
