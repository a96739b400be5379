package report

import (
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
	maxValue = 4000    // characters of one value
	minValue = 200     // and at least so many, however many values there are
	maxBlob  = 8 << 20 // bytes of a long value that is fetched
	tall     = 18      // lines of a text that is not folded
)

// allowance is how many characters of values a part of the page may still take.
type allowance struct {
	left int
	each int // of one value; 0 is maxValue
}

// take gives the room for the next value.
func (a *allowance) take() int {
	most := a.each
	if most == 0 {
		most = maxValue
	}
	return max(min(most, a.left), minValue)
}

// value is a JSON value as it is read.
type value struct {
	Text string
	// Kind is plain for what stands in a line, block for text and JSON of several lines, none for what is empty.
	Kind string
	// Note says what is left out.
	Note string
	// Small says that it is a number or the like, or empty: several of them can stand in a line.
	Small bool
	// Tall says that a block has so many lines that it is scrolled.
	Tall bool
}

// value shows a value of the stream.
func (r *writer) value(raw json.RawMessage, space *allowance) (v value) {
	room := space.take()
	parsed := gjson.ParseBytes(raw)
	p := printer{writer: r, left: room}
	if ref, ok := event.ReferenceOf(raw); ok && parsed.IsObject() && ref.JSON() {
		if content, err := r.long(ref); err == nil {
			parsed = gjson.ParseBytes(content)
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
		v.Note = "The beginning of " + size(len(raw)) + "."
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

// long fetches a long value, as far as the page may.
func (r *writer) long(ref event.Reference) ([]byte, error) {
	if ref.Bytes > maxBlob {
		return nil, errTooLong
	}
	return r.fetch(ref.Blob)
}

// fetch is Load within the page's bounds.
func (r *writer) fetch(ref string) ([]byte, error) {
	if r.Load == nil || r.load <= 0 {
		return nil, errTooLong
	}
	content, err := r.Load(ref)
	r.load -= len(content)
	return content, err
}

var errTooLong = fault.New(fault.TooLarge, "The value is not shown")

// printer writes a value in lines, as far as there is room.
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

// special writes the values that stand for others: bytes, and long values elsewhere. quoted says that it stands within
// JSON.
func (p *printer) special(v gjson.Result, quoted bool) bool {
	if !v.IsObject() {
		return false
	}
	if b := v.Get("$base64"); b.Exists() {
		p.text("⟨" + size(base64.StdEncoding.DecodedLen(len(b.Str))) + " that are no text⟩")
		return true
	}
	ref, ok := event.ReferenceOf(json.RawMessage(v.Raw))
	if !ok {
		return false
	}
	switch {
	case strings.HasPrefix(ref.MIME, "text/"):
		p.quote(p.beginning(ref), quoted)
	case ref.Head == "":
		p.text("⟨" + size(ref.Bytes) + " that are no text⟩")
		return true
	default:
		p.text(ref.Head)
	}
	if quoted {
		p.text("… ⟨" + size(ref.Bytes) + " in all⟩")
		return true
	}
	p.cut, p.note = true, "The beginning of "+size(ref.Bytes)+"."
	return true
}

// beginning is as much of a long text as is at hand and there is room for.
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

// value writes JSON with one member or element a line, but short lists and objects in one.
func (p *printer) value(v gjson.Result, depth int) {
	switch {
	case p.cut || p.special(v, true):
	case !v.IsObject() && !v.IsArray():
		p.text(v.Raw)
	case short(v):
		p.text(string(rawjson.Compact([]byte(v.Raw))))
	case plainList(v):
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

// list writes a list of numbers and short texts one after the other.
func (p *printer) list(v gjson.Result) {
	before := "["
	v.ForEach(func(_, item gjson.Result) bool {
		p.text(before + item.Raw)
		before = ", "
		return !p.cut
	})
	p.text("]")
}

func plainList(v gjson.Result) bool {
	plain := v.IsArray()
	if plain {
		v.ForEach(func(_, item gjson.Result) bool {
			plain = item.Type != gjson.JSON && len(item.Raw) <= 24
			return plain
		})
	}
	return plain
}

// key is a member's name as it was before it was escaped for the stream.
func key(k gjson.Result) string {
	if strings.HasPrefix(k.Str, "$$") {
		return string(rawjson.Quote(k.Str[1:]))
	}
	return k.Raw
}

// short says whether a list or an object is read better in one line.
func short(v gjson.Result) bool {
	return len(v.Raw) <= 60 && !strings.Contains(v.Raw, "$") && strings.Count(v.Raw, "{") <= 1
}

// size is a number of bytes as people write it.
func size(n int) string {
	switch {
	case n < 1000:
		return plural(n, "byte")
	case n < 1_000_000:
		return trimmed(float64(n)/1e3) + " kB"
	case n < 1_000_000_000:
		return trimmed(float64(n)/1e6) + " MB"
	}
	return trimmed(float64(n)/1e9) + " GB"
}

func trimmed(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}
