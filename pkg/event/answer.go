package event

import (
	"encoding/json"
	"net/url"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Answer is Plain for who wants no long texts: for each of more than limit characters, or that much base64, there is what
// stands for it instead. It is not fetched for that. A limit of 0 leaves out none.
func Answer(raw json.RawMessage, limit int, load Load, stand func(ref Reference) json.RawMessage) (json.RawMessage, error) {
	if limit == 0 {
		return Plain(raw, load)
	}
	var failed error
	answer := rewrite(raw, func(value gjson.Result, out *[]byte) bool {
		if value.Type == gjson.String {
			*out = append(*out, answerText(value, limit, stand)...)
			return true
		}
		if !value.IsObject() {
			return false
		}
		if b := gjson.Get(value.Raw, "$base64"); b.Exists() {
			*out = append(*out, answerText(b, limit, stand)...)
			return true
		}
		ref, ok := ReferenceOf(json.RawMessage(value.Raw))
		if !ok {
			return false
		}
		if !ref.JSON() && ref.Bytes > utf8.UTFMax*limit {
			*out = append(*out, stand(ref)...)
			return true
		}
		content, err := ref.answer(limit, load, stand)
		if err != nil {
			failed = err
			content = json.RawMessage("null")
		}
		*out = append(*out, content...)
		return true
	}, unescaped)
	return answer, failed
}

// answer is the content of a blob in an answer.
func (r Reference) answer(limit int, load Load, stand func(ref Reference) json.RawMessage) (json.RawMessage, error) {
	if !r.JSON() {
		text, err := r.open(load)
		if err != nil {
			return nil, err
		}
		return answerText(gjson.ParseBytes(text), limit, stand), nil
	}
	content, err := r.fetch(load)
	if err != nil {
		return nil, err
	}
	return Answer(content, limit, load, stand)
}

// answerText is a text, or what stands for it.
func answerText(text gjson.Result, limit int, stand func(ref Reference) json.RawMessage) json.RawMessage {
	if utf8.RuneCountInString(text.Str) <= limit {
		return json.RawMessage(text.Raw)
	}
	content := []byte(text.Str)
	return stand(Reference{Blob: Name(content), Bytes: len(content), MIME: mimeText, Head: Head(text.Str)})
}

// Stand is what stands for a text in an answer: the reference to it, the output it belongs to, and the URI under which
// that can be read.
func (r Reference) Stand(run, output string) json.RawMessage {
	raw := r.Value()
	uri := "pflow://runs/" + run + "/outputs/" + url.PathEscape(output)
	raw = append(append(raw[:len(raw)-1], `,"output":`...), rawjson.Quote(output)...)
	return append(append(append(raw, `,"uri":`...), rawjson.Quote(uri)...), '}')
}
