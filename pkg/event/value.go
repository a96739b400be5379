package event

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// How values stand in the stream. Three objects mean something else than they say: {"$base64":"…"} is bytes that are
// not UTF-8, {"$blob":"sha256:…",…} is a long value kept in a file, and a key that begins with $ is written with one
// more, so that nothing a node puts out can forge either.

// String is text, or bytes that are not text, as a value of the stream.
func String(b []byte) json.RawMessage {
	if !utf8.Valid(b) {
		return json.RawMessage(`{"$base64":"` + base64.StdEncoding.EncodeToString(b) + `"}`)
	}
	return rawjson.Quote(b)
}

// Escape makes valid JSON from outside a value of the stream: keys that begin with $ get one more, and halves of characters
// become U+FFFD.
func Escape(raw json.RawMessage) json.RawMessage {
	raw = paired(raw)
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

// Load fetches the content of a blob by its reference, sha256:….
type Load func(ref string) ([]byte, error)

// Plain gives the JSON that a value of the stream stands for: bytes as base64 text, blobs fetched, keys unescaped.
func Plain(raw json.RawMessage, load Load) (json.RawMessage, error) {
	return Abridge(raw, 0, load, nil)
}

// unescaped is a key as it was before Escape.
func unescaped(key string) string {
	if strings.HasPrefix(key, "$$") {
		return key[1:]
	}
	return key
}

// Part is Plain for a reader of one member of an object: long values are fetched of that one only, others are null. An
// empty key is that of every member.
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

// Reference stands for a long value: where it is kept, how long it is, and how it begins.
type Reference struct {
	Blob  string `json:"$blob"`
	Bytes int    `json:"bytes"`
	MIME  string `json:"mime"`
	Head  string `json:"head,omitempty"`
}

// Value is the reference as it stands in the stream.
func (r Reference) Value() json.RawMessage {
	b := append([]byte(`{"$blob":`), rawjson.Quote(r.Blob)...)
	b = strconv.AppendInt(append(b, `,"bytes":`...), int64(r.Bytes), 10)
	b = append(append(b, `,"mime":`...), rawjson.Quote(r.MIME)...)
	if r.Head != "" {
		b = append(append(b, `,"head":`...), rawjson.Quote(r.Head)...)
	}
	return append(b, '}')
}

// JSON says whether the content is a value of the stream, which may refer to others.
func (r Reference) JSON() bool { return r.MIME == mimeJSON }

// The kinds of content of a blob: text, JSON, or bytes.
const (
	mimeText  = "text/plain; charset=utf-8"
	mimeJSON  = "application/json"
	mimeBytes = "application/octet-stream"
)

// ReferenceOf reads a value of the stream that is a reference.
func ReferenceOf(raw json.RawMessage) (Reference, bool) {
	var r Reference
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) || !gjson.GetBytes(raw, "$blob").Exists() || json.Unmarshal(raw, &r) != nil {
		return r, false
	}
	return r, true
}

// fetch loads the content, which must be as long as the reference says: what a loss of power left of a file is not it.
func (r Reference) fetch(load Load) ([]byte, error) {
	content, err := load(r.Blob)
	if err == nil && len(content) != r.Bytes {
		err = fault.New(fault.Execution, "The long value %s has %d bytes and should have %d", r.Blob, len(content), r.Bytes)
	}
	return content, err
}

// mayHoldDollar says whether some key may begin with $: nothing has to be rewritten in almost every value.
func mayHoldDollar(raw json.RawMessage) bool {
	return bytes.Contains(raw, []byte(`"$`)) || bytes.Contains(raw, []byte(`"\u0024`))
}

func unchanged(key string) string { return key }

// closing is the bracket that ends an object or a list. It is not taken from the raw value, which may have space behind it.
func closing(object bool) byte {
	if object {
		return '}'
	}
	return ']'
}

// rewrite copies JSON, with every key renamed and every value for which replace says so replaced.
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
					out = append(rawjson.AppendQuoted(out, rename(k.String())), ':')
				}
				value(item)
				return true
			})
			out = append(out, closing(object))
		default:
			out = append(out, v.Raw...)
		}
	}
	value(gjson.ParseBytes(raw))
	return out
}
