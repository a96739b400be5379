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

// maxFaults is how many faults of a file are told. When there are so many, it is not read on.
const maxFaults = 200

// decoder reads the parts of a file and collects everything that is wrong with its form.
type decoder struct {
	file string
	// text is the file's, json that of the workflow's JSON form: the same, when the file is of that form.
	text   *text
	json   string
	places places
	faults []*fault.Fault
	// noted counts the faults, with those that are not told.
	noted int
}

func newDecoder(file string, source []byte) *decoder {
	return &decoder{file: file, text: &text{s: string(source)}}
}

// fault is all that was found, in the order of the file, or nil.
func (d *decoder) fault() error {
	slices.SortStableFunc(d.faults, func(a, b *fault.Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	if d.noted > len(d.faults) {
		d.faults = append(d.faults, fault.New(fault.Validation, "There are more faults than these").Suggest("Mend these first"))
	}
	if f := fault.Join(fault.Validation, d.file, d.faults); f != nil {
		return f
	}
	return nil
}

// add notes a fault at a JSON path.
func (d *decoder) add(path, format string, args ...any) *fault.Fault {
	at := 0
	if !d.full() {
		at, _, _ = d.places.of(stepsOf(path))
	}
	return d.addAt(at, path, format, args...)
}

// full says that no more faults are told.
func (d *decoder) full() bool { return len(d.faults) >= maxFaults }

// addAt notes a fault at an offset into the file.
func (d *decoder) addAt(at int, path, format string, args ...any) *fault.Fault {
	if d.noted++; d.full() {
		return &fault.Fault{}
	}
	f := fault.New(fault.Validation, format, args...)
	f.Path, f.File = path, d.file
	f.Line, f.Column = d.text.place(at)
	if len(d.faults) < maxShownLines && !strings.Contains(d.text.s, "secret") { // which value is one is not known yet
		line, mark := d.text.show(at)
		f.Detail("text", line).Detail("mark", mark)
	}
	d.faults = append(d.faults, f)
	return f
}

// maxShownLines is how many faults show the line that they are in.
const maxShownLines = 30

// raw is a value as it stands in the workflow's JSON form.
func (d *decoder) raw(v span) string { return d.json[v.at:v.end] }

// kind is the word for what a value is.
func (d *decoder) kind(v span) string { return rawjson.Kind([]byte(d.json[v.at : v.at+1])) }

func (d *decoder) isText(v span) bool { return d.json[v.at] == '"' }

func (d *decoder) isNull(v span) bool { return d.json[v.at] == 'n' }

// object is one that is being decoded.
type object struct {
	*decoder
	path   string
	fields []field
}

// object takes an object apart; what is none is a fault.
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

// items are those of a list; what is none is a fault.
func (d *decoder) items(v span, path string) (items []span) {
	if d.json[v.at] != '[' {
		d.add(path, "%s must be a list, not %s", called(path), d.kind(v))
		return nil
	}
	itemsOf(d.json, v.at, func(item span) { items = append(items, item) })
	return items
}

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// at is the path of a field.
func (o object) at(key string) string { return rawjson.JoinPath(o.path, key) }

// has finds a field.
func (o object) has(key string) (span, bool) {
	for _, f := range o.fields {
		if f.key == key {
			return f.value, true
		}
	}
	return span{}, false
}

// get finds a field whose value is not null, which says as much as leaving it out.
func (o object) get(key string) (span, bool) {
	v, ok := o.has(key)
	return v, ok && !o.isNull(v)
}

// known refuses fields that are not in the list, with what is meant probably.
func (o object) known(keys ...string) {
	for _, f := range o.fields {
		if o.full() {
			return
		}
		if slices.Contains(keys, f.key) || strings.HasPrefix(f.key, "_source") { // upstream's parser leaves such behind
			continue
		}
		unknown := o.add(o.at(f.key), "Unknown field %q in %s", f.key, called(o.path))
		if meant := meant(o.path, f.key, keys); meant != "" {
			unknown.Suggest("%s", meant)
		}
		unknown.Available = keys
	}
}

// must notes that a field is not what it must be.
func (o object) must(key, want string, v span) *fault.Fault {
	return o.add(o.at(key), "%s must be %s, not %s", called(o.at(key)), want, o.shown(v))
}

// shown is a value in an error: itself when it is short and no object or list, else what it is.
func (d *decoder) shown(v span) string {
	if raw := d.raw(v); len(raw) <= 60 && raw[0] != '{' && raw[0] != '[' {
		return raw
	}
	return d.kind(v)
}

// text decodes a text, if there is one.
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

// required decodes a text that must be there and not be empty.
func (o object) required(key, suggestion string) string {
	s := o.text(key)
	if v, ok := o.get(key); s == "" && (!ok || o.isText(v)) {
		o.add(o.path, "%s needs %q", called(o.path), key).Suggest("%s", suggestion)
	}
	return s
}

// oneOf decodes one of a few words; the first is what is meant when there is none.
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

// unquoted is what a JSON string says; another value has no word.
func unquoted(raw string) string {
	if raw[0] != '"' {
		return ""
	}
	return unquote(raw)
}

func orOf(words []string) string {
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " or " + words[n]
}

// flag decodes true or false, if it is there.
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

// whole decodes a whole number within bounds, or gives the one that is meant when there is none.
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

// between is a whole number, which may be spelled 2.0; false for what is none or is out of bounds.
func (d *decoder) between(v span, least, most int) (int, bool) {
	n, err := strconv.ParseFloat(d.raw(v), 64)
	return int(n), err == nil && n >= float64(least) && n <= float64(most) && n == float64(int(n))
}

// duration decodes a time. The one that is meant when there is none is given too.
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

// positive decodes a time that is longer than none.
func (o object) positive(key string, otherwise Duration) Duration {
	v, ok := o.get(key)
	if !ok {
		return otherwise
	}
	before := o.noted
	d := o.durationOf(key, v)
	if d == 0 && o.noted == before {
		o.must(key, "more than 0", v).Suggest("Leave it out for what is usual")
	}
	return d
}

// date decodes a point in time.
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
