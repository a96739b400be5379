package veloflux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// checkText refuses JSON whose texts are not what they say once they are decoded: bytes that are no UTF-8, and halves of
// a surrogate pair. A decoder makes U+FFFD of both, which may be the name of something else.
func checkText(raw json.RawMessage) error {
	if !utf8.Valid(raw) {
		return wrongText(raw, "is no valid UTF-8", func(part string) bool { return !utf8.ValidString(part) })
	}
	if loneSurrogate(raw) && json.Valid(raw) {
		return wrongText(raw, `has one half of a surrogate pair without the other (\ud800 to \udfff), which is no character`,
			func(part string) bool { return loneSurrogate(json.RawMessage(part)) })
	}
	return nil
}

// wrongText names the argument that is wrong.
func wrongText(raw json.RawMessage, wrong string, in func(part string) bool) *Error {
	what := "Something in the arguments"
	gjson.ParseBytes(raw).ForEach(func(key, value gjson.Result) bool {
		if in(key.Raw) || !in(value.Raw) {
			return true
		}
		what = fmt.Sprintf("The argument %q", fault.Truncate(key.String(), maxShownName))
		return false
	})
	return &Error{Code: CodeInvalidParams, Message: what + " " + wrong + ". Nothing was asked of the Manager"}
}

// loneSurrogate says whether a string in JSON has an escape for one half of a surrogate pair without the other (RFC 8259,
// section 8.2).
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

// surrogateOf says whether text begins with the escape for a high (h) or a low (l) half, 0 for neither.
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
