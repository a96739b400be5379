package event

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// The form of values in the stream. Two objects have a meaning: {"$base64":"…"} stands for bytes that are not UTF-8, with a "mime"
// for bytes of that content type, and {"$blob":"sha256:…",…} for a long value, or one with a content type, that is stored in a file. A key of a node's output that begins with $ gets another
// $ in front, so that no output can forge them.

// String returns text, or bytes that are not UTF-8, as a value of the stream.
func String(b []byte) json.RawMessage {
	if !utf8.Valid(b) {
		return json.RawMessage(`{"$base64":"` + base64.StdEncoding.EncodeToString(b) + `"}`)
	}
	return rawjson.Quote(b)
}

// Bytes returns content in base64 as a value of the stream that keeps its content type. It becomes a blob of any length. ok is
// false if the content is not base64.
func Bytes(content, mime string) (value json.RawMessage, ok bool) {
	content = strings.NewReplacer("\r", "", "\n", "").Replace(content) // the decoder ignores them, a JSON string does not
	if _, err := base64.StdEncoding.DecodeString(content); err != nil {
		return nil, false
	}
	return typedBytes(content, mime), true
}

func typedBytes(content, mime string) json.RawMessage {
	b := slices.Grow([]byte(nil), len(content)+len(mime)+32)
	b = append(append(append(b, `{"$base64":"`...), content...), `","mime":`...)
	return append(append(b, rawjson.Quote(mime)...), '}')
}

// Escape returns valid JSON as a value of the stream: keys that begin with $ get another $, and lone surrogates become
// U+FFFD.
func Escape(raw json.RawMessage) json.RawMessage {
	raw = replaceLoneSurrogates(raw)
	if !mayHoldDollar(raw) {
		return raw
	}
	return rewrite(raw, func(gjson.Result, *[]byte) bool { return false }, func(key string) string {
		if strings.HasPrefix(key, "$") {
			return "$" + key
		}
		return key
	})
}

// Load returns the content of a blob by its reference, sha256:….
type Load func(ref string) ([]byte, error)

// Plain returns the JSON that a value of the stream stands for: bytes as base64 text, blobs loaded, keys unescaped.
func Plain(raw json.RawMessage, load Load) (json.RawMessage, error) {
	return Abridge(raw, 0, load, nil)
}

// unescape reverts Escape for a key.
func unescape(key string) string {
	if strings.HasPrefix(key, "$$") {
		return key[1:]
	}
	return key
}

// Part is like Plain for a reader who needs one member of an object only: the others are null if they may contain a blob. An
// empty key selects all members.
func Part(raw json.RawMessage, key string, load Load) (json.RawMessage, error) {
	if key == "" || !mayHoldDollar(raw) {
		return Plain(raw, load)
	}
	if ref, ok := ReferenceOf(raw); ok && ref.JSON() {
		content, err := ref.fetch(load)
		if err != nil {
			return nil, err
		}
		return Part(content, key, load)
	}
	if gjson.GetBytes(raw, "$base64").Exists() {
		return Plain(raw, load)
	}
	out := []byte{'{'}
	gjson.ParseBytes(raw).ForEach(func(k, v gjson.Result) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, k.Raw...), ':')
		if k.Str != key && k.Str != "$"+key && mayHoldDollar([]byte(v.Raw)) {
			v.Raw = "null"
		}
		out = append(out, v.Raw...)
		return true
	})
	return Plain(append(out, '}'), load)
}

// Reference stands for a long value: its blob, its length in bytes, and its first characters.
type Reference struct {
	Blob  string `json:"$blob"`
	Bytes int    `json:"bytes"`
	MIME  string `json:"mime"`
	// Binary reports whether the content is bytes of the type MIME, which is then not one of the types of values.
	Binary bool   `json:"binary,omitempty"`
	Head   string `json:"head,omitempty"`
}

// Value returns the reference as a value of the stream.
func (r Reference) Value() json.RawMessage {
	b := append([]byte(`{"$blob":`), rawjson.Quote(r.Blob)...)
	b = strconv.AppendInt(append(b, `,"bytes":`...), int64(r.Bytes), 10)
	b = append(append(b, `,"mime":`...), rawjson.Quote(r.MIME)...)
	if r.Binary {
		b = append(b, `,"binary":true`...)
	}
	if r.Head != "" {
		b = append(append(b, `,"head":`...), rawjson.Quote(r.Head)...)
	}
	return append(b, '}')
}

// JSON reports whether the blob is a value of the stream, which may contain references.
func (r Reference) JSON() bool { return r.MIME == MIMEJSON && !r.Binary }

// Text reports whether the blob is a Text.
func (r Reference) Text() bool { return r.MIME == mimeText && !r.Binary }

// The content types of blobs. A blob of type MIMEJSON is a value of the stream.
const (
	mimeText  = "text/plain; charset=utf-8"
	MIMEJSON  = "application/json"
	mimeBytes = "application/octet-stream"
)

// ReferenceOf returns the reference that a value of the stream is; ok is false if it is not one.
func ReferenceOf(raw json.RawMessage) (r Reference, ok bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) || !gjson.GetBytes(raw, "$blob").Exists() || json.Unmarshal(raw, &r) != nil {
		return r, false
	}
	return r, true
}

// fetch loads the blob and checks its length: a power loss may leave a shorter file.
func (r Reference) fetch(load Load) ([]byte, error) {
	content, err := load(r.Blob)
	if err == nil && len(content) != r.Bytes {
		err = fault.New(fault.Execution, "The blob %s has %d bytes, its reference says %d", r.Blob, len(content), r.Bytes)
	}
	return content, err
}

// mayHoldDollar reports whether a key may begin with $. Few values have such a key; all others need no rewriting.
func mayHoldDollar(raw json.RawMessage) bool {
	return bytes.Contains(raw, []byte(`"$`)) || bytes.Contains(raw, []byte(`"\u0024`))
}

func unchanged(key string) string { return key }

// closingBracket returns the end of an object or a list. The raw value's last byte may be white space.
func closingBracket(object bool) byte {
	if object {
		return '}'
	}
	return ']'
}

// rewrite copies JSON with every key renamed. A value for which replace returns true is not copied: replace has appended its
// replacement to out.
func rewrite(raw json.RawMessage, replace func(value gjson.Result, out *[]byte) bool, rename func(string) string) json.RawMessage {
	out := make([]byte, 0, len(raw))
	var value func(v gjson.Result)
	value = func(v gjson.Result) {
		if replace(v, &out) {
			return
		}
		switch {
		case v.IsObject(), v.IsArray():
			object := v.IsObject()
			out = append(out, v.Raw[0])
			first := true
			v.ForEach(func(k, item gjson.Result) bool {
				if !first {
					out = append(out, ',')
				}
				first = false
				if object {
					if key := k.String(); rename(key) == key { // as it is written
						out = append(out, k.Raw...)
					} else {
						out = rawjson.AppendQuoted(out, rename(key))
					}
					out = append(out, ':')
				}
				value(item)
				return true
			})
			out = append(out, closingBracket(object))
		default:
			out = append(out, v.Raw...)
		}
	}
	value(gjson.ParseBytes(raw))
	return out
}

// MapReferences returns a value of the stream with each reference, except those inside of blobs, replaced by what replace
// returns.
func MapReferences(raw json.RawMessage, replace func(ref Reference) json.RawMessage) json.RawMessage {
	return rewrite(raw, func(value gjson.Result, out *[]byte) bool {
		ref, ok := ReferenceOf(json.RawMessage(value.Raw))
		if ok {
			*out = append(*out, replace(ref)...)
		}
		return ok
	}, unchanged)
}
