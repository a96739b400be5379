package veloflux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// checkText refuses JSON that changes when it is decoded: bytes that are not UTF-8, and lone halves of a surrogate pair.
// A decoder replaces both by U+FFFD, and the result may be the name of something else.
func checkText(raw json.RawMessage) error {
	if !utf8.Valid(raw) {
		return invalidText(raw, "is not valid UTF-8", func(part string) bool { return !utf8.ValidString(part) })
	}
	if loneSurrogate(raw) && json.Valid(raw) {
		return invalidText(raw, `has one half of a surrogate pair (\ud800 to \udfff) without the other`,
			func(part string) bool { return loneSurrogate(json.RawMessage(part)) })
	}
	return nil
}

// invalidText returns the error for arguments that are not valid text. It names the first argument for which invalid
// reports true.
func invalidText(raw json.RawMessage, problem string, invalid func(part string) bool) *Error {
	what := "Something in the arguments"
	gjson.ParseBytes(raw).ForEach(func(key, value gjson.Result) bool {
		if invalid(key.Raw) || !invalid(value.Raw) {
			return true
		}
		what = fmt.Sprintf("The argument %q", fault.Truncate(key.String(), maxShownName))
		return false
	})
	return &Error{Code: CodeInvalidParams, Message: what + " " + problem + notSent}
}

// loneSurrogate reports whether a string in JSON has an escape for one half of a surrogate pair without the other
// (RFC 8259, section 8.2).
func loneSurrogate(raw json.RawMessage) bool {
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 || at+1 == len(raw) {
			return false
		}
		raw = raw[at:]
		switch half := surrogateOf(raw); {
		case half == 0:
			raw = raw[2:]
		case half == 'h' && surrogateOf(raw[6:]) == 'l':
			raw = raw[12:]
		default:
			return true
		}
	}
}

// surrogateOf returns 'h' or 'l' if text begins with the escape for a high or a low surrogate, else 0.
func surrogateOf(text []byte) byte {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' || text[2]|0x20 != 'd' {
		return 0
	}
	switch c := text[3] | 0x20; {
	case c == '8' || c == '9' || c == 'a' || c == 'b':
		return 'h'
	case c >= 'c' && c <= 'f':
		return 'l'
	}
	return 0
}
