package workflow

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// called is how an error calls the thing at a path.
func called(path string) string {
	if path == "" {
		return "the workflow"
	}
	return path
}

// lineColumn counts an offset out by itself, for a source that is no JSON.
func lineColumn(source []byte, offset int) (line, column int) {
	offset = max(0, min(offset, len(source)))
	before := source[:offset]
	return bytes.Count(before, []byte("\n")) + 1, offset - bytes.LastIndexByte(before, '\n')
}

// places knows where every JSON path of a source stands. The source is walked once, when it is first asked.
type places struct {
	source []byte
	once   sync.Once
	// offsets has the key of a value in an object, and the value itself otherwise.
	offsets map[string]int
	// lines is where each line begins.
	lines []int
}

// of gives the place of a path or, where that is missing, of the nearest thing around it.
func (p *places) of(path string) (line, column int) {
	p.once.Do(p.walk)
	for end := len(path); end >= 0; end-- {
		if end > 0 && end < len(path) && path[end] != '.' && path[end] != '[' {
			continue
		}
		if at, ok := p.offsets[path[:end]]; ok {
			line, exact := slices.BinarySearch(p.lines, at)
			if !exact {
				line--
			}
			return line + 1, at - p.lines[line] + 1
		}
	}
	return 0, 0
}

func (p *places) walk() {
	p.offsets = map[string]int{}
	p.lines = []int{0}
	for i, c := range p.source {
		if c == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	w := walker{dec: json.NewDecoder(bytes.NewReader(p.source)), source: p.source, offsets: p.offsets}
	w.value("")
}

// walker reads tokens and notes where each path begins.
type walker struct {
	dec     *json.Decoder
	source  []byte
	offsets map[string]int
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
			w.value(path + "[" + strconv.Itoa(i) + "]")
			continue
		}
		key, at := w.next()
		name, _ := key.(string)
		inner := rawjson.JoinPath(path, name)
		if name == "parameters" && isNode(path) { // faults call it params
			inner = rawjson.JoinPath(path, "params")
		}
		w.note(inner, at)
		w.value(inner)
	}
	w.next()
}

// isNode says whether a path is that of a node.
func isNode(path string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(path, "ir."), "nodes[")
	return ok && strings.IndexByte(rest, ']') == len(rest)-1
}

// note keeps the first place of a path: the key of a value is met before the value and is the better place.
func (w *walker) note(path string, at int) {
	if _, ok := w.offsets[path]; !ok {
		w.offsets[path] = at
	}
}
