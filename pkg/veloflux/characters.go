package veloflux

import (
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

var (
	// pairPattern matches what is no lone half of a surrogate pair: other escapes, and whole pairs. halfPattern matches a half.
	pairPattern = lazily(`\\[^u]|\\u[dD][89abAB]..\\u[dD][c-fC-F]..`)
	halfPattern = lazily(`\\u[dD][89a-fA-F]`)
)

// loneSurrogate reports whether a string in JSON has an escape for one half of a surrogate pair without the other
// (RFC 8259, section 8.2).
func loneSurrogate(raw json.RawMessage) bool {
	return halfPattern().Match(raw) && halfPattern().Match(pairPattern().ReplaceAll(raw, []byte(" ")))
}
