package event

import (
	"encoding/json"
	"net/url"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Abridge is Plain for who wants no long texts: for each of more than limit characters, or that much base64, there is what
// stands for it instead. It is not fetched for that. A limit of 0 leaves out none.
func Abridge(raw json.RawMessage, limit int, load Load, stand func(ref Reference) json.RawMessage) (json.RawMessage, error) {
	r := resolver{load: load, limit: limit, stand: stand}
	return r.value(raw), r.failed
}

// Placeholder is what stands for a text in an answer: the reference to it, the output it belongs to, and the URI under which
// that can be read.
func (r Reference) Placeholder(run, output string) json.RawMessage {
	raw := r.Value()
	uri := "pflow://runs/" + run + "/outputs/" + url.PathEscape(output)
	raw = append(append(raw[:len(raw)-1], `,"output":`...), rawjson.Quote(output)...)
	return append(append(append(raw, `,"uri":`...), rawjson.Quote(uri)...), '}')
}
