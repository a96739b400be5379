// Package rawjson is JSON values that stay as they were written: numbers keep their spelling and text its bytes. It
// writes such values, says what they are, and names places in them.
package rawjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Marshal is json.Marshal that escapes nothing JSON does not ask for, <, > and & above all.
func Marshal(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Quote is UTF-8 text as a JSON string.
func Quote[T ~string | ~[]byte](text T) json.RawMessage {
	return AppendQuoted(make([]byte, 0, len(text)+2), text)
}

// AppendQuoted appends UTF-8 text as a JSON string.
func AppendQuoted[T ~string | ~[]byte](dst []byte, text T) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// Compact is a value without white space between its parts.
func Compact(raw json.RawMessage) json.RawMessage {
	var buf bytes.Buffer
	if json.Compact(&buf, raw) != nil {
		return raw
	}
	return buf.Bytes()
}

// Kind is the word for what a value is.
func Kind(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// JoinPath adds a key to a path such as nodes[1].params; a key that is no plain word is quoted.
func JoinPath(path, key string) string {
	switch {
	case key == "" || strings.ContainsAny(key, `.[]"`):
		return fmt.Sprintf("%s[%q]", path, key)
	case path == "":
		return key
	}
	return path + "." + key
}
