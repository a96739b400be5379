package workflow

import (
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// places finds the places of paths in a file.
type places interface {
	// of finds the longest prefix of a path that exists. It returns the offset of its key, or of its value if it has no key,
	// and the value. whole reports whether the prefix is the whole path.
	of(steps []pathStep) (at int, value content, whole bool)
}

// content is a value in a file: its offset and, for text, a function that returns the offset of each byte of the text.
type content struct {
	at    int
	trace func(offset int) (at int, ok bool)
}

// jsonPlaces finds places in a JSON text. It reads each object and list once, on first use.
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

// find follows steps as far as they exist, and returns the number of those left.
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

// list returns the offsets of the items of a list, or nil for another value.
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

// object returns the fields of an object by their keys, or nil for another value.
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

// traceJSON returns the offset in the file of a byte of the text of the JSON string at an offset.
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
