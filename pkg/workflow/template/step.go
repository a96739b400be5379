package template

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// along takes as many steps into an object or a list as one pass over it allows, and returns how many; 0 if not even the
// first leads anywhere. It tries several at once because each single step scans all that comes before its target. gjson
// then tries the next of equal keys if the first does not lead on; single steps do not.
func along(value json.RawMessage, steps []Step) (json.RawMessage, int) {
	if len(value) == 0 || value[0] != '{' && value[0] != '[' { // gjson would look for a brace in text as well
		return nil, 0
	}
	if path, n := pathOf(steps); n > 1 {
		if got, ok := get(value, path, steps[n-1]); ok {
			return got, n
		}
	}
	if next, ok := into(value, steps[0]); ok {
		return next, 1
	}
	return nil, 0
}

// pathOf returns the gjson path of the longest prefix of steps that gjson follows as Lookup would. It ends at the first
// index: gjson accepts an index as a key too, and get can tell the two apart only for the last step.
func pathOf(steps []Step) (path string, n int) {
	var b strings.Builder
	for _, s := range steps {
		if !s.IsIndex && !trusted(s.Key) {
			break
		}
		if n > 0 {
			b.WriteByte('.')
		}
		n++
		if s.IsIndex {
			b.WriteString(strconv.Itoa(s.Index))
			break
		}
		b.WriteString(escape(s.Key))
	}
	return b.String(), n
}

// trusted reports whether gjson finds exactly this key: it decodes a lone surrogate differently.
func trusted(key string) bool { return !strings.ContainsRune(key, utf8.RuneError) }

// escape returns a component of a gjson path that matches only the given key, and only in objects: after a backslash no
// character is special to gjson, and digits are not an index.
func escape(key string) string {
	var b strings.Builder
	for i := range len(key) {
		if c := key[i]; c < utf8.RuneSelf && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			b.WriteByte('\\')
		}
		b.WriteByte(key[i])
	}
	return b.String()
}

// get returns the value at a gjson path as part of value. last is the last step of the path.
func get(value json.RawMessage, path string, last Step) (json.RawMessage, bool) {
	got := gjson.GetBytes(value, path)
	if got.Index == 0 { // not found, or not a part of value
		return nil, false
	}
	before := bytes.TrimRight(value[:got.Index], space)
	if member := before[len(before)-1] == ':'; last.IsIndex && member {
		return nil, false
	}
	return value[got.Index : got.Index+len(got.Raw)], true
}

// into takes one step into a value.
func into(value json.RawMessage, step Step) (json.RawMessage, bool) {
	switch {
	case value[0] == '[' && step.IsIndex:
		return get(value, strconv.Itoa(step.Index), step)
	case value[0] == '{' && (!step.IsIndex || step.Key != ""):
		return member(value, step.Key)
	}
	return nil, false
}
