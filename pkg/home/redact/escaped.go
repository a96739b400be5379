package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// escapedForms returns the forms of a value, except the value itself, in which encoders of JSON and of URLs write it: what is then
// encoded in base64. Where a character may be escaped or not, the forms are those of common encoders, not all combinations.
// A value of letters, digits, _, - and . has none.
func escapedForms(value string) (forms []string) {
	if strings.IndexFunc(value, isEscapedSomewhere) < 0 {
		return nil
	}
	seen := map[string]bool{value: true}
	add := func(form string) {
		if !seen[form] {
			seen[form] = true
			forms = append(forms, form)
		}
	}
	for _, encode := range jsonEncoders() {
		once := encode(value)
		add(once)
		add(encode(once))
	}
	// The characters that RFC 3986 does not reserve are never encoded, and these not by: encodeURIComponent, form encoders, quote of
	// Python, and url.PathEscape.
	for _, kept := range [...]string{"", "!'()*", "*", "/", "$&+=:@"} {
		form := percentEncoded(value, kept)
		add(form)
		add(strings.ReplaceAll(form, "%20", "+"))
	}
	return forms
}

// isEscapedSomewhere reports whether some encoder of JSON or of URLs escapes a character.
func isEscapedSomewhere(r rune) bool { return r >= utf8.RuneSelf || !isUnreserved(byte(r)) }

// isUnreserved reports whether a byte is unreserved in URLs (RFC 3986, section 2.3), and so never encoded.
func isUnreserved(c byte) bool {
	return upper(c) || lower(c) || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0
}

// jsonEncoders returns functions that escape a text as common encoders of JSON do, without the quotes around it.
func jsonEncoders() []func(string) string {
	minimal := func(s string) string { return unquoted(rawjson.Quote(s)) }
	slashes := func(s string) string { return strings.ReplaceAll(s, "/", `\/`) }
	return []func(string) string{
		minimal, // JSON.stringify
		func(s string) string { return escapedWhere(minimal(s), isDelete, `\u%04x`) }, // jq
		func(s string) string { // encoding/json
			b, _ := json.Marshal(s)
			return unquoted(b)
		},
		func(s string) string { return escapedWhere(minimal(s), isNotASCII, `\u%04x`) },          // json of Python
		func(s string) string { return slashes(minimal(s)) },                                     // json_encode with JSON_UNESCAPED_UNICODE
		func(s string) string { return slashes(escapedWhere(minimal(s), isNotASCII, `\u%04x`)) }, // json_encode
		func(s string) string { // System.Text.Json
			return escapedWhere(strings.ReplaceAll(minimal(s), `\"`, `\u0022`), isUnsafeInHTML, `\u%04X`)
		},
	}
}

func unquoted(b []byte) string { return string(b[1 : len(b)-1]) }

func isDelete(r rune) bool { return r == 0x7f }

func isNotASCII(r rune) bool { return r >= 0x7f }

func isUnsafeInHTML(r rune) bool { return isNotASCII(r) || strings.ContainsRune("&'+<>`", r) }

// escapedWhere writes the characters for which escape returns true as units of UTF-16 in the given format.
func escapedWhere(s string, escape func(rune) bool, format string) string {
	var b strings.Builder
	for _, r := range s {
		if !escape(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, format, unit)
		}
	}
	return b.String()
}

// percentEncoded percent-encodes a text except the characters of kept and the unreserved ones.
func percentEncoded(s, kept string) string {
	var b strings.Builder
	for i := range len(s) {
		if isUnreserved(s[i]) || strings.IndexByte(kept, s[i]) >= 0 {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}
