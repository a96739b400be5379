package report

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	maxValue = 4000    // most characters of one value
	minValue = 200     // least room for a value, however many there are
	maxBlob  = 8 << 20 // most bytes of a blob that is loaded
	tall     = 18      // most lines of a text that is not scrolled
)

// budget is how many characters of values a part of the page may still take.
type budget struct {
	left int
	// each is the most characters of one value, least the least room for one. 0 means maxValue and minValue.
	each, least int
}

// take returns the room for the next value.
func (a *budget) take() int {
	return max(min(cmp.Or(a.each, maxValue), a.left), cmp.Or(a.least, minValue))
}

// value is a JSON value as it is shown.
type value struct {
	Text string
	// Kind is plain for a value in a line, block for text and JSON of several lines, none for an empty value.
	Kind string
	// Note says what is not shown.
	Note string
	// Small is set for numbers and the like, and for empty values: several of them fit in a line.
	Small bool
	// Tall is set if a block has so many lines that it is scrolled.
	Tall bool
}

// value returns a value of the event stream as it is shown.
func (r *writer) value(raw json.RawMessage, space *budget) (v value) {
	room := space.take()
	parsed := gjson.ParseBytes(raw)
	p, total := printer{writer: r, left: room}, len(raw)
	if ref, ok := event.ReferenceOf(raw); ok && parsed.IsObject() && ref.JSON() {
		if content, err := r.long(ref); err == nil {
			parsed, total = gjson.ParseBytes(content), len(content)
		}
	}
	switch {
	case parsed.Type == gjson.String:
		p.text(parsed.Str)
	case p.special(parsed, false):
	default:
		p.value(parsed, 0)
	}
	v.Text, v.Note = visible(p.out.String()), p.note
	if p.cut && v.Note == "" {
		v.Note = "The beginning of " + size(total) + "."
	}
	space.left -= utf8.RuneCountInString(v.Text)
	lines := strings.Count(v.Text, "\n") + 1
	switch {
	case v.Text == "":
		v.Kind, v.Text, v.Small = "none", "empty", true
	case lines == 1 && len(v.Text) <= 120 && v.Note == "":
		v.Kind, v.Small = "plain", parsed.Type != gjson.String && !parsed.IsObject() && !parsed.IsArray()
	default:
		v.Kind, v.Tall = "block", lines > tall || len(v.Text) > 100*tall
	}
	return v
}

// long loads a blob within the bounds of the page.
func (r *writer) long(ref event.Reference) ([]byte, error) {
	if ref.Bytes > maxBlob {
		return nil, errTooLong
	}
	return r.fetch(ref.Blob)
}

// fetch is Load within the bounds of the page.
func (r *writer) fetch(ref string) ([]byte, error) {
	if r.Load == nil || r.bytesLeft <= 0 {
		return nil, errTooLong
	}
	content, err := r.Load(ref)
	r.bytesLeft -= len(content)
	return content, err
}

var errTooLong = fault.New(fault.TooLarge, "The value is not shown")

// printer writes a value in lines as long as there is room.
type printer struct {
	*writer
	out  strings.Builder
	left int
	cut  bool
	note string
}

// text writes as much of a text as there is room for.
func (p *printer) text(s string) {
	if p.cut {
		return
	}
	for i := range s {
		if p.left == 0 {
			p.out.WriteString(s[:i])
			p.cut = true
			return
		}
		p.left--
	}
	p.out.WriteString(s)
}

// special writes bytes and references; it returns false for any other value. quoted is set inside JSON.
func (p *printer) special(v gjson.Result, quoted bool) bool {
	if !v.IsObject() {
		return false
	}
	if b := v.Get("$base64"); b.Exists() {
		p.text("⟨" + size(base64.StdEncoding.DecodedLen(len(b.Str))) + " that are not text⟩")
		return true
	}
	ref, ok := event.ReferenceOf(json.RawMessage(v.Raw))
	if !ok {
		return false
	}
	switch {
	case ref.Binary:
		p.text("⟨" + size(ref.Bytes) + " of " + ref.MIME + "⟩")
		return true
	case strings.HasPrefix(ref.MIME, "text/"):
		p.quote(p.beginning(ref), quoted)
	case ref.Head == "":
		p.text("⟨" + size(ref.Bytes) + " that are not text⟩")
		return true
	default:
		p.text(ref.Head)
	}
	if quoted {
		p.text("… ⟨" + size(ref.Bytes) + " in total⟩")
		return true
	}
	p.cut, p.note = true, "The beginning of "+size(ref.Bytes)+"."
	return true
}

// beginning returns as much of a long text as is available and there is room for.
func (p *printer) beginning(ref event.Reference) string {
	if content, err := p.long(ref); err == nil && len(content) == ref.Bytes {
		i := 0
		for n := 0; n < p.left && i < len(content); n++ {
			_, width := utf8.DecodeRune(content[i:])
			i += width
		}
		return string(content[:i])
	}
	return ref.Head
}

func (p *printer) quote(s string, quoted bool) {
	if quoted {
		s = string(rawjson.Quote(s))
	}
	p.text(s)
}

// value writes JSON with one member or element per line, except short lists and objects.
func (p *printer) value(v gjson.Result, depth int) {
	switch {
	case p.cut || p.special(v, true):
	case !v.IsObject() && !v.IsArray():
		p.text(v.Raw)
	case fitsOneLine(v):
		p.text(string(rawjson.Compact([]byte(v.Raw))))
	case isPlainList(v):
		p.list(v)
	default:
		open, end := "[", "]"
		if v.IsObject() {
			open, end = "{", "}"
		}
		p.text(open)
		first := true
		v.ForEach(func(k, item gjson.Result) bool {
			if !first {
				p.text(",")
			}
			first = false
			p.text("\n" + strings.Repeat("  ", depth+1))
			if v.IsObject() {
				p.text(key(k) + ": ")
			}
			p.value(item, depth+1)
			return !p.cut
		})
		if !first {
			p.text("\n" + strings.Repeat("  ", depth))
		}
		p.text(end)
	}
}

// list writes a list of numbers and short texts in one line.
func (p *printer) list(v gjson.Result) {
	before := "["
	v.ForEach(func(_, item gjson.Result) bool {
		p.text(before + item.Raw)
		before = ", "
		return !p.cut
	})
	p.text("]")
}

func isPlainList(v gjson.Result) bool {
	plain := v.IsArray()
	if plain {
		v.ForEach(func(_, item gjson.Result) bool {
			plain = item.Type != gjson.JSON && len(item.Raw) <= 24
			return plain
		})
	}
	return plain
}

// key returns the name of a member as it was before event.Escape.
func key(k gjson.Result) string {
	if strings.HasPrefix(k.Str, "$$") {
		return string(rawjson.Quote(k.Str[1:]))
	}
	return k.Raw
}

// fitsOneLine reports whether a list or an object is short enough for one line.
func fitsOneLine(v gjson.Result) bool {
	return len(v.Raw) <= 60 && !strings.Contains(v.Raw, "$") && strings.Count(v.Raw, "{") <= 1
}

// size formats a number of bytes for people.
func size(n int) string {
	switch {
	case n < 1000:
		return plural(n, "byte")
	case n < 1_000_000:
		return decimal(float64(n)/1e3) + " kB"
	case n < 1_000_000_000:
		return decimal(float64(n)/1e6) + " MB"
	}
	return decimal(float64(n)/1e9) + " GB"
}

func decimal(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}
