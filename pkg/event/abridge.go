package event

import (
	"encoding/json"
	"net/url"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Abridge is like Plain, but replaces each text of more than limit characters, or that much base64, by its placeholder,
// without loading it. A limit of 0 is no limit.
func Abridge(raw json.RawMessage, limit int, load Load, stand func(ref Reference) json.RawMessage) (json.RawMessage, error) {
	r := resolver{load: load, limit: limit, placeholder: stand}
	return r.value(raw), r.failed
}

// Placeholder returns what an answer has in place of a long text: the reference, the name of the output that it belongs to,
// and the URI under which it can be read.
func (r Reference) Placeholder(run, output string) json.RawMessage {
	raw := r.Value()
	uri := OutputURI(run, output)
	raw = append(append(raw[:len(raw)-1], `,"output":`...), rawjson.Quote(output)...)
	return append(append(append(raw, `,"uri":`...), rawjson.Quote(uri)...), '}')
}

// OutputURI returns the URI of the resource that is an output of a run.
func OutputURI(run, output string) string {
	return "pflow://runs/" + run + "/outputs/" + url.PathEscape(output)
}

// ReferenceTo returns a reference to a value: to the text of a string, and to the JSON of any other value. Nothing is stored.
func ReferenceTo(plain json.RawMessage) Reference {
	content, mime := []byte(plain), MIMEJSON
	if text := gjson.ParseBytes(plain); text.Type == gjson.String {
		content, mime = []byte(text.Str), mimeText
	}
	return referenceTo(Digest(content), content, len(content), mime)
}
