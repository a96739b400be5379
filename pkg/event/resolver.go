package event

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// resolver replaces references in values of the stream.
type resolver struct {
	load Load
	// limit is the most characters of a text; 0 is no limit. placeholder returns the replacement of a longer one.
	limit       int
	placeholder func(ref Reference) json.RawMessage
	// failed is the error of a blob that could not be loaded. Its value is null.
	failed error
}

func (r *resolver) value(raw json.RawMessage) json.RawMessage {
	if r.limit == 0 && !mayHoldDollar(raw) {
		return raw
	}
	return rewrite(raw, r.replace, unescape)
}

func (r *resolver) replace(value gjson.Result, out *[]byte) bool {
	if value.Type == gjson.String && r.limit > 0 {
		*out = append(*out, r.text(value)...)
		return true
	}
	if !value.IsObject() {
		return false
	}
	if b := gjson.Get(value.Raw, "$base64"); b.Exists() {
		*out = append(*out, r.text(b)...)
		return true
	}
	ref, ok := ReferenceOf(json.RawMessage(value.Raw))
	if !ok {
		return false
	}
	content, err := r.blob(ref)
	if err != nil {
		r.failed = err
		content = json.RawMessage("null")
	}
	*out = append(slices.Grow(*out, len(content)+len(value.Raw)), content...) // exactly: it may be long
	return true
}

// blob returns the value of a blob, or its placeholder. A text that is certainly too long is not loaded.
func (r *resolver) blob(ref Reference) (json.RawMessage, error) {
	if r.limit > 0 && !ref.JSON() && ref.Bytes > utf8.UTFMax*r.limit {
		return r.placeholder(ref), nil
	}
	content, err := ref.fetch(r.load)
	if err != nil {
		return nil, err
	}
	switch {
	case ref.JSON():
		inner := *r
		inner.failed = nil
		plain := inner.value(content)
		return plain, inner.failed
	case ref.Text():
		return r.quoted(rawjson.Quote(content)), nil
	case ref.Binary, ref.MIME == mimeBytes:
		return r.quoted(rawjson.Quote(base64.StdEncoding.EncodeToString(content))), nil
	}
	return nil, fault.New(fault.Protocol, "the blob %s has the unknown type %q", ref.Blob, ref.MIME)
}

// quoted returns a quoted text, or its placeholder.
func (r *resolver) quoted(text json.RawMessage) json.RawMessage {
	if r.limit == 0 {
		return text
	}
	return r.text(gjson.ParseBytes(text))
}

// text returns a parsed text, or its placeholder.
func (r *resolver) text(text gjson.Result) json.RawMessage {
	if r.limit == 0 || utf8.RuneCountInString(text.Str) <= r.limit {
		return json.RawMessage(text.Raw)
	}
	content := []byte(text.Str)
	return r.placeholder(Reference{Blob: Digest(content), Bytes: len(content), MIME: mimeText, Head: Head(text.Str)})
}
