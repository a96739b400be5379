package node

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// The keys of a program's object that are not plain outputs.
const (
	actionKey = "$action"
	askKey    = "$ask"
	errorKey  = "error"
)

// maxProgressLine is the most bytes of a line that reports progress.
const maxProgressLine = 64 << 10

// programStdout parses a program's standard output: lines that report progress, then one object.
type programStdout struct {
	progress func(done, total float64, message string)
	used     func(usage json.RawMessage)
	// take takes the lines that only a runner prints, and returns false for any other. It gets the beginning of a long line too. It
	// is nil for a program.
	take func(line []byte) bool

	// object is the output after the lines of progress, line the line before it that is not complete yet.
	object spool
	line   []byte
	// garbage is the beginning of an output that is not an object. The rest of it is dropped.
	garbage []byte
	// begun is set when the first byte of an object has come.
	begun bool
}

// Write never fails: errors in the output are reported at its end.
func (a *programStdout) Write(p []byte) (int, error) {
	n := len(p)
	for a.object.size == 0 && a.garbage == nil && len(p) > 0 {
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 && len(a.line)+len(p) <= maxProgressLine {
			a.line = append(a.line, p...)
			return n, nil
		}
		a.line, p = append(a.line, p[:end]...), p[end:]
		if len(bytes.TrimSpace(a.line)) > 0 && !a.reportProgress(a.line) || end == 0 {
			a.hold(a.line)
			a.line = nil
			break
		}
		a.line = a.line[:0]
	}
	a.hold(p)
	return n, nil
}

// maxGarbage is how many bytes of garbage are held: so many that its quote in a message ends with the mark of a cut.
const maxGarbage = maxTail + utf8.UTFMax

// hold takes a piece of the output after the lines of progress. Only what begins as an object is held as a whole.
func (a *programStdout) hold(p []byte) {
	if begin := bytes.TrimLeft(p, " \t\r\n"); !a.begun && a.garbage == nil && len(begin) > 0 {
		if begin[0] == '{' {
			a.begun = true
		} else {
			a.object.discard()
			a.garbage, p = make([]byte, 0, maxGarbage), begin
		}
	}
	if a.garbage == nil {
		_, _ = a.object.Write(p)
		return
	}
	a.garbage = append(a.garbage, p[:min(len(p), maxGarbage-len(a.garbage))]...)
}

// reportProgress passes a line of progress on; ok is false if it is not one.
func (a *programStdout) reportProgress(line []byte) (ok bool) {
	if a.take != nil && a.take(line) {
		return true
	}
	if !bytes.HasPrefix(bytes.TrimLeft(line, " \t{"), []byte(`"progress"`)) {
		return false
	}
	var whole map[string]struct {
		Done    float64         `json:"done"`
		Total   float64         `json:"total"`
		Message string          `json:"message"`
		Usage   json.RawMessage `json:"llm_usage"`
	}
	if json.Unmarshal(line, &whole) != nil || len(whole) != 1 {
		return false
	}
	step := whole["progress"]
	if step.Usage != nil && a.used != nil {
		a.used(step.Usage)
	}
	if a.progress != nil {
		a.progress(step.Done, step.Total, fault.Truncate(step.Message, maxTail))
	}
	return true
}

// text returns the output after the lines of progress, or its beginning if it is not an object. It is called once.
func (a *programStdout) text() ([]byte, error) {
	if a.garbage != nil {
		if len(a.garbage) < maxGarbage {
			return bytes.TrimSpace(a.garbage), nil
		}
		return a.garbage[:event.WholeText(a.garbage)], nil
	}
	text, err := a.object.content()
	if len(text) == 0 && !a.reportProgress(a.line) {
		text = a.line
	}
	return bytes.TrimSpace(text), err
}

// longObjectFault is the fault of a program that printed more than MaxOutput.
func longObjectFault(path string) *fault.Fault {
	return fault.New(fault.TooLarge, "%s printed more than %d MiB and was stopped", filepath.Base(path), MaxOutput>>20).
		Suggest("Write large data to a file and output its path")
}

// printedObject is the object that a program printed.
type printedObject struct {
	// text is the object as it was printed; nil if it has keys that are not outputs.
	text    json.RawMessage
	action  gjson.Result
	ask     gjson.Result
	outputs []namedOutput
}

// namedOutput is an output of a program.
type namedOutput struct {
	key   string
	value json.RawMessage
}

// long reports whether the output is a text that gets a blob of its own.
func (m namedOutput) long() bool { return m.value[0] == '"' && len(m.value) > event.InlineLimit }

// parseObject parses the object that a program printed. The message of its error continues "the program …".
func parseObject(text []byte) (*printedObject, error) {
	switch {
	case len(text) == 0:
		return nil, fault.New(fault.Protocol, "printed nothing; one JSON object of outputs is expected")
	case !utf8.Valid(text):
		return nil, fault.New(fault.Protocol, "printed bytes that are not UTF-8 text; print other bytes as base64: %s", shortenBytes(text, 80))
	case text[0] != '{' || !json.Valid(text):
		return nil, fault.New(fault.Protocol, "printed something other than one JSON object: %s", shortenBytes(text, 80))
	}
	d := &printedObject{text: text}
	keys := map[string]bool{}
	twice := ""
	// The text does not change any more, and copying a long one would take time.
	gjson.Parse(unsafe.String(&text[0], len(text))).ForEach(func(k, v gjson.Result) bool {
		if keys[k.String()] {
			twice = k.String()
		}
		keys[k.String()] = true
		if k.String() == askKey {
			d.text, d.ask = nil, v
			return true
		}
		if k.String() != actionKey {
			d.outputs = append(d.outputs, namedOutput{k.String(), text[v.Index : v.Index+len(v.Raw)]})
			return true
		}
		if d.text = nil; v.Type != gjson.Null {
			d.action = v
		}
		return true
	})
	if twice != "" {
		return nil, fault.New(fault.Protocol, "printed an object with the key %q twice", shorten(twice))
	}
	return d, nil
}

// shortenBytes returns the beginning of bytes that may not be text, for a message. If they were cut it ends with …, so that
// redaction recognizes a part of a secret, also if the text is short because it has one U+FFFD for many bytes.
func shortenBytes(text []byte, most int) string {
	s := fault.Truncate(strings.ToValidUTF8(string(text[:min(len(text), most+1)]), "\uFFFD"), most)
	if len(text) > most+1 && !strings.HasSuffix(s, "…") {
		s = strings.TrimSuffix(s, "\uFFFD") + "…"
	}
	return s
}

// overrideFault replaces the fault by the program's own output error: an object like a fault of the suite, or a text.
func (d *printedObject) overrideFault(f *fault.Fault) {
	for _, m := range d.outputs {
		if m.key != errorKey {
			continue
		}
		value := gjson.ParseBytes(m.value)
		if value.Type == gjson.String && value.Str != "" {
			f.Message = fault.Truncate(value.Str, maxTail)
		}
		if message := value.Get("message"); message.Type == gjson.String && message.Str != "" {
			var own fault.Fault
			_ = json.Unmarshal(m.value, &own) // fields of a wrong type are left out
			if !own.Type.Known() {
				own.Type = f.Type
			}
			own.Message = fault.Truncate(own.Message, maxTail)
			own.Node, own.File, own.Line, own.Column = "", "", 0, 0 // the engine knows the place
			*f = own
		}
	}
}

// storeOutputs returns a program's outputs as the node's. A long text goes into a blob of its own at once.
func (t *Task) storeOutputs(outputs []namedOutput) (json.RawMessage, error) {
	out := []byte{'{'}
	for i, m := range outputs {
		if i > 0 {
			out = append(out, ',')
		}
		if strings.HasPrefix(m.key, "$") { // see event.Escape
			m.key = "$" + m.key
		}
		out = append(rawjson.AppendQuoted(out, m.key), ':')
		value := event.Escape(m.value)
		if m.long() {
			text := t.capture()
			decodePieces(m.value[1:len(m.value)-1], func(piece string) { _, _ = text.Write([]byte(piece)) })
			var err error
			if value, err = text.Value(false); err != nil {
				return nil, err
			}
		}
		out = append(out, value...)
	}
	return append(out, '}'), nil
}

// decodePieces decodes the inside of a JSON string in pieces, so that it is not held twice in memory.
func decodePieces(inside []byte, take func(text string)) {
	for len(inside) > 0 {
		n := cutPoint(inside, maxProgressLine)
		take(gjson.Parse(`"` + string(inside[:n]) + `"`).Str)
		inside = inside[n:]
	}
}

// cutPoint returns where a JSON string can be cut, at n bytes or a little later: not inside an escape or a character.
func cutPoint(inside []byte, n int) int {
	i := 0
	for i < n && i < len(inside) {
		switch {
		case inside[i] != '\\':
			i++
		case inside[i+1] != 'u':
			i += 2
		case strings.ContainsRune("dD", rune(inside[i+2])) && strings.ContainsRune("89abAB", rune(inside[i+3])) && bytes.HasPrefix(inside[i+6:], []byte(`\u`)):
			i += 12 // a surrogate pair
		default:
			i += 6
		}
	}
	for i < len(inside) && !utf8.RuneStart(inside[i]) {
		i++
	}
	return i
}
