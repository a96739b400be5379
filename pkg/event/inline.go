package event

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Unfold returns a value of the stream with each reference to another such value replaced by that. References to text and
// bytes stay.
func Unfold(raw json.RawMessage, load Load) (json.RawMessage, error) {
	if !mayHoldDollar(raw) {
		return raw, nil
	}
	var failed error
	whole := rewrite(raw, func(value gjson.Result, out *[]byte) bool {
		ref, ok := ReferenceOf(json.RawMessage(value.Raw))
		if !ok || !ref.JSON() {
			return false
		}
		content, err := ref.fetch(load)
		if err == nil {
			content, err = Unfold(content, load)
		}
		if err != nil {
			failed = err
		}
		*out = append(*out, content...)
		return true
	}, unchanged)
	return whole, failed
}

// IsBytes reports whether a value of the stream is bytes with a content type, such as an image that an MCP tool returned.
func IsBytes(raw json.RawMessage) bool {
	if ref, ok := ReferenceOf(raw); ok {
		return ref.Binary
	}
	return bytes.HasPrefix(raw, []byte("{")) && gjson.GetBytes(raw, "$base64").Exists() && gjson.GetBytes(raw, "mime").Exists()
}

// Inline returns a value of the stream with each reference replaced by its content. The result is still a value of the
// stream.
func Inline(raw json.RawMessage, load Load) (json.RawMessage, error) {
	if !mayHoldDollar(raw) {
		return raw, nil
	}
	var failed error
	whole := rewrite(raw, func(value gjson.Result, out *[]byte) bool {
		ref, ok := ReferenceOf(json.RawMessage(value.Raw))
		if !ok {
			return false
		}
		content, err := ref.fetch(load)
		switch {
		case err != nil:
			failed = err
		case ref.Text():
			*out = rawjson.AppendQuoted(*out, string(content))
		case ref.Binary:
			*out = append(*out, typedBytes(base64.StdEncoding.EncodeToString(content), ref.MIME)...)
		case !ref.JSON():
			*out = append(*out, `{"$base64":"`+base64.StdEncoding.EncodeToString(content)+`"}`...)
		default:
			inner, err := Inline(content, load)
			if err != nil {
				failed = err
			}
			*out = append(*out, inner...)
		}
		return true
	}, unchanged)
	return whole, failed
}
