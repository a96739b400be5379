package event

import (
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// resolver gives what values of the stream stand for.
type resolver struct {
	load Load
	// limit is the most characters of a text, 0 for any number; stand gives what stands for a longer one.
	limit int
	stand func(ref Reference) json.RawMessage
	// failed is why a long value could not be had: null is in its place.
	failed error
}

func (r *resolver) value(raw json.RawMessage) json.RawMessage {
	if r.limit == 0 && !mayHoldDollar(raw) {
		return raw
	}
	return rewrite(raw, r.replace, unescaped)
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
	content, err := r.long(ref)
	if err != nil {
		r.failed = err
		content = json.RawMessage("null")
	}
	*out = append(*out, content...)
	return true
}

// long is the content of a blob, or what stands for it, which does not have to be fetched.
func (r *resolver) long(ref Reference) (json.RawMessage, error) {
	if r.limit > 0 && !ref.JSON() && ref.Bytes > utf8.UTFMax*r.limit {
		return r.stand(ref), nil
	}
	content, err := ref.fetch(r.load)
	if err != nil {
		return nil, err
	}
	switch ref.MIME {
	case mimeJSON:
		inner := *r
		inner.failed = nil
		plain := inner.value(content)
		return plain, inner.failed
	case mimeText:
		return r.quoted(rawjson.Quote(content)), nil
	case mimeBytes:
		return r.quoted(rawjson.Quote(base64.StdEncoding.EncodeToString(content))), nil
	}
	return nil, fault.New(fault.Protocol, "the blob %s is of unknown kind %q", ref.Blob, ref.MIME)
}

// quoted is text for a JSON text that is not read yet, and may be long.
func (r *resolver) quoted(text json.RawMessage) json.RawMessage {
	if r.limit == 0 {
		return text
	}
	return r.text(gjson.ParseBytes(text))
}

// text is a text, or what stands for it.
func (r *resolver) text(text gjson.Result) json.RawMessage {
	if r.limit == 0 || utf8.RuneCountInString(text.Str) <= r.limit {
		return json.RawMessage(text.Raw)
	}
	content := []byte(text.Str)
	return r.stand(Reference{Blob: Digest(content), Bytes: len(content), MIME: mimeText, Head: Head(text.Str)})
}
