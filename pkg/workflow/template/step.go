package template

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// along takes as many steps into an object or a list as one reading of it allows, and says how many; 0 when there is not
// even the first. Several are tried at once, for each alone reads over all that lies before it. gjson then goes on to the
// next of equal keys where the first does not lead on, which single steps do not.
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

// pathOf is the gjson path of as many steps as it can be trusted with. It ends with the first index: gjson takes that for
// a key as well, and get can tell only of the last step which it was.
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

// trusted says whether gjson finds this key and no other: what it makes of half a surrogate pair is not what that stands
// for.
func trusted(key string) bool { return !strings.ContainsRune(key, utf8.RuneError) }

// escape makes a key a component of a gjson path that matches just that key, in objects alone: behind a backslash no
// character means anything to gjson, and no digits are an index.
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

// get is the value at a gjson path, cut out of the value that it is in. last is the step that the path ends with.
func get(value json.RawMessage, path string, last Step) (json.RawMessage, bool) {
	got := gjson.GetBytes(value, path)
	if got.Index == 0 { // nothing, or nothing that stands in the value
		return nil, false
	}
	before := bytes.TrimRight(value[:got.Index], space)
	if member := before[len(before)-1] == ':'; last.IsIndex && member {
		return nil, false
	}
	return value[got.Index : got.Index+len(got.Raw)], true
}

// into takes one step.
func into(value json.RawMessage, step Step) (json.RawMessage, bool) {
	switch {
	case value[0] == '[' && step.IsIndex:
		return get(value, strconv.Itoa(step.Index), step)
	case value[0] == '{' && (!step.IsIndex || step.Key != ""):
		return member(value, step.Key)
	}
	return nil, false
}
