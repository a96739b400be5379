// Package redact takes secrets out of whatever is written: events, logs, records, reports and errors.
//
// A value is found as it is, JSON-escaped (also twice), percent-encoded, and in base64 of either alphabet, also where
// other bytes stand before and behind it in the same base64 text.
package redact

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Mark stands where a secret stood.
const Mark = "<redacted>"

// inside is the least length in bytes from which on a value is looked for inside longer texts. A shorter one is found
// only where it is the whole text.
const inside = 6

// Redactor knows the secrets. It is safe for concurrent use, also while values are added.
type Redactor struct {
	mu    sync.Mutex // held by whoever adds
	known atomic.Pointer[matcher]
}

// New gives a Redactor that knows no secret.
func New() *Redactor {
	r := &Redactor{}
	r.known.Store(&matcher{})
	return r
}

// Add makes a value a secret from now on. The first name under which a value is added is the one that Named shows.
func (r *Redactor) Add(name, value string) { r.add([]secret{{name, value}}) }

// AddAll makes values secrets under one name, all in one step: what there is to look for is copied at each.
func (r *Redactor) AddAll(name string, values ...string) {
	secrets := make([]secret, len(values))
	for i, value := range values {
		secrets[i] = secret{name, value}
	}
	r.add(secrets)
}

// AddJSON makes a JSON value a secret: a text or a number, or all texts and numbers in an object or a list.
func (r *Redactor) AddJSON(name string, raw json.RawMessage) {
	switch v := gjson.ParseBytes(raw); {
	case v.Type == gjson.String:
		r.Add(name, v.Str)
	case v.Type == gjson.Number:
		r.Add(name, v.Raw)
	case v.IsObject(), v.IsArray():
		v.ForEach(func(_, item gjson.Result) bool {
			r.AddJSON(name, json.RawMessage(item.Raw))
			return true
		})
	}
}

// Empty says whether there is no secret.
func (r *Redactor) Empty() bool { return len(r.known.Load().whole) == 0 }

// secret is a value with its name.
type secret struct{ name, value string }

// add makes values secrets, all in one step: what there is to look for is copied each time.
func (r *Redactor) add(secrets []secret) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known.Load()
	var fresh []secret
	seen := map[string]bool{}
	for _, s := range secrets {
		// A value that was read with the newline at its end is used without it.
		for _, v := range [...]string{s.value, strings.TrimSpace(s.value)} {
			if _, old := known.whole[v]; !old && !seen[v] && v != "" && v != Mark {
				seen[v] = true
				fresh = append(fresh, secret{s.name, v})
			}
		}
	}
	if len(fresh) > 0 {
		r.known.Store(known.with(fresh))
	}
}

// Text gives the text with <redacted> in the place of each secret: of a text that is a secret as a whole, and inside a
// longer text of each that has at least six bytes. Where secrets overlap no part of either is left. Where … says that
// something was cut off, the part of a secret that is left before or behind it is redacted too, from four bytes on.
func (r *Redactor) Text(s string) string {
	out, _ := r.known.Load().text(s, plain)
	return out
}

// marker makes what stands in a secret's place of the secret's name.
type marker func(name string) string

func plain(string) string { return Mark }

func named(name string) string { return "<redacted:" + name + ">" }

// isMark says whether a text is what a redaction left.
func isMark(s string) bool {
	return s == Mark || strings.HasPrefix(s, "<redacted:") && strings.IndexByte(s, '>') == len(s)-1
}

// text redacts a text and says whether there was anything.
func (m *matcher) text(s string, mark marker) (string, bool) {
	if name, ok := m.isWhole(s); ok {
		return mark(name), true
	}
	spans, _ := m.scan(s, true)
	spans = m.cuts(s, spans)
	if len(spans) == 0 {
		return s, false
	}
	return replace(s, spans, mark), true
}

func replace(s string, spans []span, mark marker) string {
	var b strings.Builder
	at := 0
	for _, sp := range spans {
		b.WriteString(s[at:sp.start])
		b.WriteString(mark(sp.name))
		at = sp.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// Fault gives a copy of a fault with every text in it redacted. The line of a file that it shows, as the details text and
// mark, is left out when there is something to redact: the mark would stand at another place.
func (r *Redactor) Fault(f *fault.Fault) *fault.Fault {
	if f == nil {
		return nil
	}
	c := *f
	c.Message, c.Node, c.Path, c.File = r.Text(f.Message), r.Text(f.Node), r.Text(f.Path), r.Text(f.File)
	c.Missing, c.Suggestions, c.Available = r.texts(f.Missing), r.texts(f.Suggestions), r.texts(f.Available)
	c.Errors = nil
	for _, e := range f.Errors {
		c.Errors = append(c.Errors, r.Fault(e))
	}
	c.Details = r.details(f.Details)
	return &c
}

func (r *Redactor) texts(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, r.Text(s))
	}
	return out
}

// details redacts the facts of a fault as the JSON they are written as. One in which nothing is found stays what it is.
func (r *Redactor) details(facts map[string]any) map[string]any {
	if facts == nil {
		return nil
	}
	line, _ := facts["text"].(string)
	hidden := facts["mark"] != nil && r.Text(line) != line
	out := make(map[string]any, len(facts))
	for key, value := range facts {
		if hidden && (key == "text" || key == "mark") {
			continue
		}
		raw, err := json.Marshal(map[string]any{key: value})
		if err != nil {
			out[r.Text(key)] = Mark // what cannot be read cannot be cleaned
			continue
		}
		clean, changed := r.JSON(raw)
		if !changed {
			out[key] = value
			continue
		}
		var one map[string]json.RawMessage
		if json.Unmarshal(clean, &one) == nil {
			for k, v := range one {
				out[k] = simplest(v)
			}
		}
	}
	return out
}

// simplest is a text for JSON text, and other JSON as it is.
func simplest(raw json.RawMessage) any {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return raw
}
