package terminal

import (
	"slices"
	"testing"
)

func TestTerminal(t *testing.T) {
	for written, want := range map[string]struct {
		lines  []string
		faults int
		home   bool
	}{
		"":                               {[]string{""}, 0, true},
		"one\r\ntwo":                     {[]string{"one", "two"}, 0, false},
		"one\r\n":                        {[]string{"one"}, 0, true},
		"one\rtw":                        {[]string{"twe"}, 0, false},
		"1\r\n2\r\n3\r\n\x1b[2Ax":        {[]string{"1", "x", "3"}, 0, false},
		"1\r\n2\r\n\x1b[2A\x1b[K\x1b[J":  {[]string{""}, 0, true},
		"1\r\n2\r\n\x1b[9A":              {[]string{"1", "2"}, 1, false},
		"\x1b[31mred\x1b[0m \x1b[?2026h": {[]string{"red"}, 0, false},
		"12345678901":                    {[]string{"1234567890", "1"}, 1, false},
		"\x1b[?7l12345678901":            {[]string{"1234567890"}, 1, false},
		"日本日本日本":                         {[]string{"日本日本日", "本"}, 1, false},
		"\x1b[?7l1234567890\x1b[K":       {[]string{"123456789"}, 0, false}, // the cursor is still on the last column
		"\x1b[2Z\a":                      {[]string{""}, 2, true},
		"a日b\ra":                         {[]string{"a日b"}, 0, false},
	} {
		for _, step := range []int{1, 100} { // also when what is written comes byte by byte
			term := Terminal{Width: 10, Height: 4}
			for part := range slices.Chunk([]byte(written), step) {
				_, _ = term.Write(part)
			}
			if !slices.Equal(term.Lines(), want.lines) || len(term.Faults) != want.faults || term.Home() != want.home {
				t.Errorf("%q: %q, %q, at home: %t", written, term.Lines(), term.Faults, term.Home())
			}
		}
	}
}
