package workflow

import (
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// places knows where in a file every path of its workflow stands.
type places interface {
	// of finds the longest beginning of a path that is there: the offset where its key stands, or without a key the
	// value; and the value. whole says that this is all of the path.
	of(steps []pathStep) (at int, value content, whole bool)
}

// content is a value in a file: where it begins and, when it is text, where in the file each of its bytes stands.
type content struct {
	at    int
	trace func(offset int) (at int, ok bool)
}

// jsonPlaces is those of a JSON text. It looks at each object and list once, when it is first asked for something in it.
type jsonPlaces struct {
	text string
	root int

	mu      sync.Mutex
	lists   map[int][]int
	objects map[int]map[string]field
}

func (p *jsonPlaces) of(steps []pathStep) (at int, value content, whole bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, v, left := p.find(steps)
	for _, other := range spellings(steps) {
		if left == 0 {
			break
		}
		if at2, v2, left2 := p.find(other); left2 < left {
			at, v, left = at2, v2, left2
		}
	}
	return at, content{v, func(offset int) (int, bool) { return traceJSON(p.text, v, offset) }}, left == 0
}

// find follows steps as far as they lead, and counts those that are left.
func (p *jsonPlaces) find(steps []pathStep) (at, value, left int) {
	at, value = p.root, p.root
	for i, s := range steps {
		if s.list {
			items := p.list(value)
			if s.index >= len(items) {
				return at, value, len(steps) - i
			}
			at, value = items[s.index], items[s.index]
			continue
		}
		f, ok := p.object(value)[s.key]
		if !ok {
			return at, value, len(steps) - i
		}
		at, value = f.at, f.value.at
	}
	return at, value, 0
}

// list is where the items of a list begin; nil for another value.
func (p *jsonPlaces) list(at int) []int {
	items, ok := p.lists[at]
	if !ok && p.text[at] == '[' {
		itemsOf(p.text, at, func(item span) { items = append(items, item.at) })
		if p.lists == nil {
			p.lists = map[int][]int{}
		}
		p.lists[at] = items
	}
	return items
}

// object is the fields of an object by their keys; nil for another value.
func (p *jsonPlaces) object(at int) map[string]field {
	fields, ok := p.objects[at]
	if !ok && p.text[at] == '{' {
		fields = map[string]field{}
		fieldsOf(p.text, at, func(f field) bool {
			if _, ok := fields[f.key]; !ok {
				fields[f.key] = f
			}
			return true
		})
		if p.objects == nil {
			p.objects = map[int]map[string]field{}
		}
		p.objects[at] = fields
	}
	return fields
}

// traceJSON is the offset in a file of a byte of the text that a JSON string at an offset says.
func traceJSON(text string, at, offset int) (int, bool) {
	if text[at] != '"' {
		return at, false
	}
	for at++; offset > 0 && text[at] != '"'; {
		if text[at] != '\\' {
			at++
			offset--
			continue
		}
		size, length := 2, 1
		if text[at+1] == 'u' {
			c, _ := hex(text, at+2)
			if size = 6; utf16.IsSurrogate(c) {
				low, _ := hex(text, at+8)
				c, size = utf16.DecodeRune(c, low), 12
			}
			length = utf8.RuneLen(c)
		}
		if length > offset {
			break
		}
		at += size
		offset -= length
	}
	return at, true
}
