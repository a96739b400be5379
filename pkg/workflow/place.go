package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// joinPath adds a key to a JSON path; a key that is no plain word is quoted.
func joinPath(path, key string) string {
	if strings.ContainsAny(key, `.[]"`) {
		return fmt.Sprintf("%s[%q]", path, key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// called is how an error calls the thing at a path.
func called(path string) string {
	if path == "" {
		return "The workflow"
	}
	return path
}

// kind is the word for a JSON value.
func kind(raw json.RawMessage) string {
	switch raw = bytes.TrimSpace(raw); raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

func lineColumn(source []byte, offset int) (line, column int) {
	offset = max(0, min(offset, len(source)))
	before := source[:offset]
	return bytes.Count(before, []byte("\n")) + 1, offset - bytes.LastIndexByte(before, '\n')
}

// locate walks the source once, to the value at a path or, where that is missing, to the nearest thing around it.
func locate(source []byte, path string) (line, column int) {
	w := walker{dec: json.NewDecoder(bytes.NewReader(source)), source: source, want: path, best: -1}
	w.value("")
	if w.best < 0 {
		return 0, 0
	}
	return lineColumn(source, w.best)
}

// walker reads tokens and remembers where the longest prefix of the wanted path begins.
type walker struct {
	dec    *json.Decoder
	source []byte
	want   string
	best   int
	length int
}

// next gives the next token and the offset of its first byte.
func (w *walker) next() (json.Token, int) {
	from := int(w.dec.InputOffset())
	for from < len(w.source) && bytes.IndexByte([]byte(" \t\r\n,:"), w.source[from]) >= 0 {
		from++
	}
	tok, err := w.dec.Token()
	if err != nil {
		return nil, from
	}
	return tok, from
}

func (w *walker) value(path string) {
	tok, at := w.next()
	w.note(path, at)
	delim, ok := tok.(json.Delim)
	if !ok {
		return
	}
	for i := 0; w.dec.More(); i++ {
		if delim == '[' {
			w.value(fmt.Sprintf("%s[%d]", path, i))
			continue
		}
		key, at := w.next()
		name, _ := key.(string)
		w.note(joinPath(path, name), at)
		w.value(joinPath(path, name))
	}
	w.next()
}

// note takes a place for the best one so far when the wanted path begins with it. The key of a value is met before
// the value and is the better place, so an equal length changes nothing.
func (w *walker) note(path string, at int) {
	rest, ok := strings.CutPrefix(w.want, path)
	if !ok || rest != "" && path != "" && rest[0] != '.' && rest[0] != '[' {
		return
	}
	if w.best < 0 || len(path) > w.length {
		w.best, w.length = at, len(path)
	}
}
