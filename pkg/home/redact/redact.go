// Package redact removes secrets from everything that is written: events, logs, journals, reports and errors.
//
// It finds a value unchanged, JSON-escaped (also twice), percent-encoded, and in base64 of either alphabet, also between other
// bytes in the same base64 text, and escaped before as common encoders do. Of a secret of several lines it also finds each line, and of a connection string the password.
//
// It also finds undeclared credentials, by their place: user and password in a URL, and the values of parameters
// and cookies whose names are those of credentials, such as ?token=… and Cookie: sid=….
package redact

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Mark replaces a secret.
const Mark = "<redacted>"

// inside is the least length in bytes of a value that is searched for inside longer texts. A shorter one is redacted only if it
// is the whole text.
const inside = 6

// Redactor knows the secrets and redacts them. It is safe for concurrent use, also while values are added.
type Redactor struct {
	mu    sync.Mutex // serializes add
	known atomic.Pointer[matcher]
	// learned is the number of secrets that AddCredentials has found.
	learned atomic.Int64
}

// New returns a Redactor without secrets.
func New() *Redactor {
	r := &Redactor{}
	r.known.Store(&matcher{})
	return r
}

// minValue is the least number of bytes in an environment variable that counts as a secret because of its name. A shorter one,
// such as a flag, would be found in texts that have nothing to do with it.
const minValue = 6

// For returns a Redactor that knows the given values by name, which are those of the settings, and of the environment's variables
// (NAME=VALUE) those with secret names, and the credentials in the others.
func For(values map[string]string, env []string) *Redactor {
	r := New()
	var secrets []secret
	for name, value := range values {
		secrets = append(secrets, secret{name, value})
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if !SecretName(name) {
			secrets = append(secrets, credentialsIn(value, false)...)
		} else if len(value) >= minValue {
			secrets = append(secrets, secret{name, value})
		}
	}
	r.add(secrets)
	return r
}

// Add makes a value a secret. Named shows the first name under which a value was added.
func (r *Redactor) Add(name, value string) { r.add([]secret{{name, value}}) }

// AddAll makes values secrets under one name. It is faster than several calls of Add, each of which copies all patterns.
func (r *Redactor) AddAll(name string, values ...string) {
	secrets := make([]secret, len(values))
	for i, value := range values {
		secrets[i] = secret{name, value}
	}
	r.add(secrets)
}

// AddJSON makes a JSON value secret: a text or a number, or all texts and numbers in an object or a list.
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

// AddConnection makes a text with a credential in it, such as a connection string, a secret with all that is secret in it. A text
// without a credential it leaves alone.
func (r *Redactor) AddConnection(name, text string) {
	if len(passwords(secret{name, text})) > 0 {
		r.Add(name, text)
	}
}

// Empty reports whether there are no secrets.
func (r *Redactor) Empty() bool { return len(r.known.Load().whole) == 0 }

// secret is a value with its name.
type secret struct{ name, value string }

// add makes values secrets. It copies all patterns once.
func (r *Redactor) add(secrets []secret) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known.Load()
	var fresh []secret
	seen := map[string]bool{}
	for _, s := range secrets {
		// A value that was read with a newline at its end is used without it.
		for _, part := range append([]secret{s, {s.name, strings.TrimSpace(s.value)}}, parts(s)...) {
			if _, old := known.whole[part.value]; !old && !seen[part.value] && part.value != "" && !isMark(part.value) {
				seen[part.value] = true
				fresh = append(fresh, part)
			}
		}
	}
	if len(fresh) > 0 {
		r.known.Store(known.with(fresh))
	}
}

// Text returns the text with <redacted> in place of each secret. A secret of less than six bytes is replaced only if it is the
// whole text. Credentials are replaced by their place. Of secrets that overlap no part is left. Before and behind an ellipsis (…), where the text was shortened, Text
// also replaces parts of secrets, of four bytes and more.
func (r *Redactor) Text(s string) string {
	out, _ := r.known.Load().text(s, plain)
	return out
}

// marker returns the mark that replaces a secret of the given name.
type marker func(name string) string

func plain(string) string { return Mark }

func named(name string) string { return "<redacted:" + name + ">" }

// isMark reports whether a text is a mark.
func isMark(s string) bool {
	return s == Mark || strings.HasPrefix(s, "<redacted:") && strings.IndexByte(s, '>') == len(s)-1
}

// text redacts a text and reports whether it contained a secret.
func (m *matcher) text(s string, mark marker) (string, bool) { return m.textIn(s, mark, false) }

// textIn is text for the value of a header. Its cookies are credentials.
func (m *matcher) textIn(s string, mark marker, cookies bool) (string, bool) {
	if name, ok := m.isWhole(s); ok {
		return mark(name), true
	}
	spans, _ := m.scan(s, true)
	spans = m.cuts(s, spans)
	if mayHaveCredentials(s) {
		spans = united(spans, findCredentials(s, cookies).spans)
	}
	if len(spans) == 0 {
		return s, false
	}
	return replace(s, spans, mark), true
}

func replace(s string, spans []span, mark marker) string {
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, sp := range spans {
		b.WriteString(s[at:sp.start])
		b.WriteString(mark(sp.name))
		at = sp.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// Fault returns a copy of a fault with all its texts redacted. It drops the details text and mark, which show a line of a file,
// if the line contains a secret, because the mark would point at another place.
func (r *Redactor) Fault(f *fault.Fault) *fault.Fault {
	if f == nil {
		return nil
	}
	c := *f
	c.Message, c.Node, c.Path, c.File = r.Text(f.Message), r.Text(f.Node), r.Text(f.Path), r.Text(f.File)
	c.Missing, c.Available = r.Texts(f.Missing), r.Texts(f.Available)
	c.MapSuggestions(r.Text)
	c.Errors = nil
	for _, e := range f.Errors {
		c.Errors = append(c.Errors, r.Fault(e))
	}
	c.Details = r.details(f.Details)
	return &c
}

// Texts redacts each text of a list.
func (r *Redactor) Texts(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, r.Text(s))
	}
	return out
}

// details redacts the JSON of a fault's details. A detail without secrets keeps its Go value.
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
		raw, err := rawjson.Marshal(map[string]any{key: value})
		if err != nil {
			out[r.Text(key)] = Mark // it may contain a secret
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

// simplest returns a string for JSON text, and other JSON unchanged.
func simplest(raw json.RawMessage) any {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return raw
}
