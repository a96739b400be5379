package event

import (
	"bytes"
	"encoding/json"
)

// replaceLoneSurrogates replaces each lone surrogate in JSON text by U+FFFD: it is not a character, and many readers refuse
// a line that has one (RFC 8259, 8.2). The text is copied only if it has any.
func replaceLoneSurrogates(raw json.RawMessage) json.RawMessage {
	copied := false
	for i := 0; ; {
		at := bytes.IndexByte(raw[i:], '\\')
		if at < 0 || i+at+6 > len(raw) {
			return raw
		}
		i += at
		switch half := surrogate(raw[i:]); {
		case half == 0 && raw[i+1] == 'u':
			i += 6
		case half == 0:
			i += 2
		case half == high && surrogate(raw[i+6:]) == low:
			i += 12
		default:
			if !copied {
				raw, copied = bytes.Clone(raw), true
			}
			copy(raw[i:], `\ufffd`)
			i += 6
		}
	}
}

// The halves of a surrogate pair.
const (
	high = 1 + iota
	low
)

// surrogate returns which half of a surrogate pair the text begins with, or 0.
func surrogate(text []byte) int {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' || text[2]|0x20 != 'd' {
		return 0
	}
	switch c := text[3] | 0x20; {
	case c == '8' || c == '9' || c == 'a' || c == 'b':
		return high
	case c >= 'c' && c <= 'f':
		return low
	}
	return 0
}
