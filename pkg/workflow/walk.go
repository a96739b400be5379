package workflow

import (
	"encoding/json"
	"strings"
)

// The functions in this file walk JSON text that a scanner has accepted, one level at a time.

// span is the range of a value in a text.
type span struct{ at, end int }

// field is a key of an object with its value.
type field struct {
	key   string
	at    int
	value span
}

// spaceAfter returns the offset of the first byte from i on that is not white space.
func spaceAfter(text string, i int) int {
	for text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r' {
		i++
	}
	return i
}

// quotedEnd returns the end of the string at i.
func quotedEnd(text string, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// valueEnd returns the end of the value at i.
func valueEnd(text string, i int) int {
	switch text[i] {
	case '"':
		return quotedEnd(text, i)
	case '{', '[':
		for depth := 0; ; {
			switch text[i] {
			case '"':
				i = quotedEnd(text, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
	}
	for i < len(text) && isWord(text[i]) {
		i++
	}
	return i
}

// fieldsOf visits the fields of the object at i, until visit returns false.
func fieldsOf(text string, i int, visit func(f field) bool) {
	i = spaceAfter(text, i+1)
	for text[i] != '}' {
		key := span{i, quotedEnd(text, i)}
		at := spaceAfter(text, spaceAfter(text, key.end)+1)
		end := valueEnd(text, at)
		if !visit(field{unquote(text[key.at:key.end]), key.at, span{at, end}}) {
			return
		}
		if i = spaceAfter(text, end); text[i] == ',' {
			i = spaceAfter(text, i+1)
		}
	}
}

// itemsOf visits the items of the list at i.
func itemsOf(text string, i int, visit func(item span)) {
	i = spaceAfter(text, i+1)
	for text[i] != ']' {
		end := valueEnd(text, i)
		visit(span{i, end})
		if i = spaceAfter(text, end); text[i] == ',' {
			i = spaceAfter(text, i+1)
		}
	}
}

// unquote returns the text of a JSON string.
func unquote(raw string) string {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var s string
	_ = json.Unmarshal([]byte(raw), &s) // the scanner has accepted it
	return s
}
