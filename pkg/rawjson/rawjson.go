// Package rawjson handles JSON values that stay as they were written: numbers keep their spelling and strings their bytes. It
// encodes such values, names their kinds, and writes paths to places in them.
package rawjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Marshal is json.Marshal without the escaping of <, > and &: a value that passes through keeps its bytes. The suite encodes JSON by
// this function alone.
func Marshal(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Quote returns UTF-8 text as a JSON string.
func Quote[T ~string | ~[]byte](text T) json.RawMessage {
	return AppendQuoted(make([]byte, 0, len(text)+2), text)
}

// AppendQuoted appends UTF-8 text to dst as a JSON string.
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

// Compact returns a value without white space between its parts, or raw itself if it is not JSON.
func Compact(raw json.RawMessage) json.RawMessage {
	var buf bytes.Buffer
	if json.Compact(&buf, raw) != nil {
		return raw
	}
	return buf.Bytes()
}

// Kind returns what a value is, in words that follow "is" in a message.
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

// JoinPath appends a key to a path such as nodes[1].params. A key that is empty or has a dot, a bracket or a quote is quoted.
func JoinPath(path, key string) string {
	switch {
	case key == "" || strings.ContainsAny(key, `.[]"`):
		return fmt.Sprintf("%s[%q]", path, key)
	case path == "":
		return key
	}
	return path + "." + key
}

// AppendPath appends a path from a value to the path of that value.
func AppendPath(path, inner string) string {
	if path == "" || inner == "" || inner[0] == '[' {
		return path + inner
	}
	return path + "." + inner
}
