package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// maxFaults bounds the faults that are reported for a file. Decoding stops after them.
const maxFaults = 200

// decoder reads the parts of a file and collects the faults in its form.
type decoder struct {
	file string
	// text is the file's text, and json the workflow's JSON form. They are equal for a file of the JSON form.
	text   *text
	json   string
	places places
	faults []*fault.Fault
	// included holds the files that are in place of values. replaced is set when all are that can be: the paths of the others are lost.
	included []*inclusion
	replaced bool
	lost     []string
	// noted counts all faults, including those after maxFaults.
	noted int
}

func newDecoder(file string, source []byte) *decoder {
	return &decoder{file: file, text: &text{s: string(source)}}
}

// fault joins the faults in the order of the file. It returns nil if the file has no faults.
func (d *decoder) fault() error {
	slices.SortStableFunc(d.faults, func(a, b *fault.Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	if d.noted > len(d.faults) {
		d.faults = append(d.faults, fault.New(fault.Validation, "The file has more errors than these").Suggest("Fix these first"))
	}
	if f := fault.Join(fault.Validation, d.file, d.faults); f != nil {
		return f
	}
	return nil
}

// add reports a fault at a JSON path.
func (d *decoder) add(path, format string, args ...any) *fault.Fault {
	at := 0
	if !d.full() {
		if in, rest := inclusionAt(d.included, path); in != nil {
			at, _, _ = in.of(stepsOf(rest))
			return d.addIn(in.name, in.text, at, path, format, args...)
		}
		at, _, _ = d.places.of(stepsOf(path))
	}
	return d.addAt(at, path, format, args...)
}

// full reports whether no more faults are collected.
func (d *decoder) full() bool { return len(d.faults) >= maxFaults }

// addAt reports a fault at an offset in the file.
func (d *decoder) addAt(at int, path, format string, args ...any) *fault.Fault {
	return d.addIn(d.file, d.text, at, path, format, args...)
}

// addIn reports a fault at an offset in the text of a file.
func (d *decoder) addIn(file string, text *text, at int, path, format string, args ...any) *fault.Fault {
	if d.noted++; d.full() {
		return &fault.Fault{}
	}
	f := fault.New(fault.Validation, format, args...)
	f.Path, f.File = path, file
	f.Line, f.Column = text.place(at)
	if len(d.faults) < maxShownLines && !strings.Contains(d.text.s, "secret") { // which values are secret is not known yet
		line, mark := text.show(at)
		f.Detail("text", line).Detail("mark", mark)
	}
	d.faults = append(d.faults, f)
	return f
}

// maxShownLines bounds the faults that show their line.
const maxShownLines = 30

// raw returns the JSON text of a value.
func (d *decoder) raw(v span) string { return d.json[v.at:v.end] }

// kind describes the kind of a value, such as "a list".
func (d *decoder) kind(v span) string { return rawjson.Kind([]byte(d.json[v.at : v.at+1])) }

func (d *decoder) isText(v span) bool { return d.json[v.at] == '"' }

func (d *decoder) isNull(v span) bool { return d.json[v.at] == 'n' }

// object is an object that is being decoded, at its path.
type object struct {
	*decoder
	path   string
	fields []field
}

// object returns the fields of an object. Another kind of value is a fault.
func (d *decoder) object(v span, path string) (object, bool) {
	o := object{decoder: d, path: path}
	if d.json[v.at] != '{' {
		d.add(path, "%s must be an object, not %s", called(path), d.kind(v))
		return o, false
	}
	fieldsOf(d.json, v.at, func(f field) bool {
		o.fields = append(o.fields, f)
		return true
	})
	return o, true
}

// items returns the items of a list. Another kind of value is a fault.
func (d *decoder) items(v span, path string) (items []span) {
	if d.json[v.at] != '[' {
		d.add(path, "%s must be a list, not %s", called(path), d.kind(v))
		return nil
	}
	itemsOf(d.json, v.at, func(item span) { items = append(items, item) })
	return items
}

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// at returns the path of a field.
func (o object) at(key string) string { return rawjson.JoinPath(o.path, key) }

// has returns the value of a field; the result is false if the field is missing.
func (o object) has(key string) (span, bool) {
	for _, f := range o.fields {
		if f.key == key {
			return f.value, true
		}
	}
	return span{}, false
}

// get is has, except that null counts as missing.
func (o object) get(key string) (span, bool) {
	v, ok := o.has(key)
	return v, ok && !o.isNull(v)
}

// known reports fields that are not among the keys, and suggests what may be meant.
func (o object) known(keys ...string) {
	for _, f := range o.fields {
		if o.full() {
			return
		}
		if slices.Contains(keys, f.key) || strings.HasPrefix(f.key, "_source") { // pflow's Python parser adds such fields
			continue
		}
		unknown := o.add(o.at(f.key), "Unknown field %q in %s", f.key, called(o.path))
		if next := suggestion(o.path, f.key, keys); next != "" {
			unknown.Suggest("%s", next)
		}
		unknown.Offer(f.key, keys)
	}
}

// must reports a field whose value is not what is wanted.
func (o object) must(key, want string, v span) *fault.Fault {
	return o.add(o.at(key), "%s must be %s, not %s", called(o.at(key)), want, o.shown(v))
}

// shown describes a value in an error: the value if it is a short scalar, otherwise its kind.
func (d *decoder) shown(v span) string {
	if raw := d.raw(v); len(raw) <= 60 && raw[0] != '{' && raw[0] != '[' {
		return raw
	}
	return d.kind(v)
}

// text decodes a text. It returns "" if the field is missing.
func (o object) text(key string) string {
	v, ok := o.get(key)
	if !ok {
		return ""
	}
	if !o.isText(v) {
		o.must(key, "a string", v).Suggest("Put it into double quotes")
		return ""
	}
	return unquote(o.raw(v))
}

// required decodes a text that must not be missing or empty.
func (o object) required(key, suggestion string) string {
	s := o.text(key)
	if v, ok := o.get(key); s == "" && (!ok || o.isText(v)) {
		o.add(o.path, "%s needs %q", called(o.path), key).Suggest("%s", suggestion)
	}
	return s
}

// oneOf decodes one of the given words. The first is the default.
func (o object) oneOf(key string, words ...string) string {
	v, ok := o.get(key)
	if !ok {
		return words[0]
	}
	if s := unquoted(o.raw(v)); slices.Contains(words, s) {
		return s
	}
	f := o.must(key, orOf(words), v)
	if near, ok := fault.Nearest(unquoted(o.raw(v)), words); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return words[0]
}

// unquoted returns the text of a JSON string, or "" for another value.
func unquoted(raw string) string {
	if raw[0] != '"' {
		return ""
	}
	return unquote(raw)
}

// orOf lists words as "a, b or c".
func orOf(words []string) string {
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " or " + words[n]
}

// flag decodes a boolean; ok is false if the field is missing.
func (o object) flag(key string) (value, ok bool) {
	v, ok := o.get(key)
	if !ok {
		return false, false
	}
	switch o.raw(v) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	_ = o.must(key, "true or false", v)
	return false, false
}

// whole decodes a whole number from least to most. It returns otherwise if the field is missing.
func (o object) whole(key string, least, most, otherwise int) int {
	v, ok := o.get(key)
	if !ok {
		return otherwise
	}
	n, ok := o.between(v, least, most)
	if !ok {
		_ = o.must(key, fmt.Sprintf("a whole number from %d to %d", least, most), v)
		return otherwise
	}
	return n
}

// between decodes a whole number from least to most, which may be spelled 2.0. It returns false for any other value.
func (d *decoder) between(v span, least, most int) (int, bool) {
	n, err := strconv.ParseFloat(d.raw(v), 64)
	return int(n), err == nil && n >= float64(least) && n <= float64(most) && n == float64(int(n))
}

// duration decodes a duration. It returns otherwise if the field is missing.
func (o object) duration(key string, otherwise Duration) Duration {
	v, ok := o.get(key)
	if !ok {
		return otherwise
	}
	return o.durationOf(key, v)
}

func (o object) durationOf(key string, v span) Duration {
	var d Duration
	if err := d.UnmarshalJSON([]byte(o.raw(v))); err != nil {
		o.must(key, "a duration", v).Suggest(`Write a number of seconds, or text such as "30s", "5m" or "1h30m"`)
	}
	return d
}

// positive decodes a duration of more than 0. It returns otherwise if the field is missing.
func (o object) positive(key string, otherwise Duration) Duration {
	v, ok := o.get(key)
	if !ok {
		return otherwise
	}
	before := o.noted
	d := o.durationOf(key, v)
	if d == 0 && o.noted == before {
		o.must(key, "more than 0", v).Suggest("Leave it out to use the default")
	}
	return d
}

// date decodes a time in the form of RFC 3339.
func (o object) date(key string) time.Time {
	v, ok := o.get(key)
	if !ok {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, unquoted(o.raw(v)))
	if err != nil {
		o.must(key, "a date and time (RFC 3339)", v).Suggest(`Write it as "2026-01-02T15:04:05Z"`)
	}
	return t
}
