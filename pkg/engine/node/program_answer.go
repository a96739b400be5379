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

// The keys of a program's answer that mean more than an output.
const (
	actionKey = "$action"
	errorKey  = "error"
)

// longLine is more bytes than a line has that tells of progress.
const longLine = 64 << 10

// answer takes what a program prints: lines that tell of its progress, then one object.
type answer struct {
	progress func(done, total float64, message string)
	// over is called when it is more than can be taken.
	over func()

	text []byte // the object, or what else comes in its place
	line []byte // before it begins: the line that is not ended
	full bool
}

// Write never fails: what is wrong is told in the end.
func (a *answer) Write(p []byte) (int, error) {
	n := len(p)
	if a.full = a.full || n > MaxOutput-len(a.text)-len(a.line); a.full {
		a.over()
		return n, nil
	}
	for len(a.text) == 0 && len(p) > 0 {
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 && len(a.line)+len(p) <= longLine {
			a.line = append(a.line, p...)
			return n, nil
		}
		a.line, p = append(a.line, p[:end]...), p[end:]
		if end == 0 || len(bytes.TrimSpace(a.line)) > 0 && !a.tell(a.line) {
			a.text, a.line = a.line, nil
			break
		}
		a.line = a.line[:0]
	}
	a.text = append(a.text, p...)
	return n, nil
}

// tell passes a line of progress on; ok is false when it is something else.
func (a *answer) tell(line []byte) (ok bool) {
	if !bytes.HasPrefix(bytes.TrimLeft(line, " \t{"), []byte(`"progress"`)) {
		return false
	}
	var whole map[string]struct {
		Done    float64 `json:"done"`
		Total   float64 `json:"total"`
		Message string  `json:"message"`
	}
	if json.Unmarshal(line, &whole) != nil || len(whole) != 1 {
		return false
	}
	if said := whole["progress"]; a.progress != nil {
		a.progress(said.Done, said.Total, fault.Truncate(said.Message, maxSaid))
	}
	return true
}

// whole is what was printed besides the progress. It is called once.
func (a *answer) whole() []byte {
	text := a.text
	if len(text) == 0 && !a.tell(a.line) {
		text = a.line
	}
	a.text = nil
	return bytes.TrimSpace(text)
}

// tooLong is the fault of a program that does not stop printing.
func tooLong(path string) *fault.Fault {
	return fault.New(fault.TooLarge, "%s printed more than %d MiB and was stopped", filepath.Base(path), MaxOutput>>20).
		Suggest("Write large data to a file and put out its path")
}

// document is the object that a program printed.
type document struct {
	// text is the object as it was printed, nil when there is more in it than outputs.
	text    json.RawMessage
	action  gjson.Result
	outputs []programOutput
}

// programOutput is an output.
type programOutput struct {
	key   string
	value json.RawMessage
}

// long says whether it is a text that gets a blob of its own.
func (m programOutput) long() bool { return m.value[0] == '"' && len(m.value) > event.InlineLimit }

// parsed reads what a program printed. The error goes on from "the program …".
func parsed(text []byte) (*document, error) {
	switch {
	case len(text) == 0:
		return nil, fault.New(fault.Protocol, "printed nothing, where one JSON object of outputs is expected")
	case !utf8.Valid(text):
		return nil, fault.New(fault.Protocol, "printed bytes that are no UTF-8 text; other bytes can be put out as base64: %s", excerptOf(text, 80))
	case text[0] != '{' || !json.Valid(text):
		return nil, fault.New(fault.Protocol, "printed what is not one JSON object: %s", excerptOf(text, 80))
	}
	d := &document{text: text}
	keys := map[string]bool{}
	twice := ""
	// Nobody changes the text any more: a copy of a long one would be felt.
	gjson.Parse(unsafe.String(&text[0], len(text))).ForEach(func(k, v gjson.Result) bool {
		if keys[k.String()] {
			twice = k.String()
		}
		keys[k.String()] = true
		if k.String() != actionKey {
			d.outputs = append(d.outputs, programOutput{k.String(), text[v.Index : v.Index+len(v.Raw)]})
			return true
		}
		if d.text = nil; v.Type != gjson.Null {
			d.action = v
		}
		return true
	})
	if twice != "" {
		return nil, fault.New(fault.Protocol, "printed an object that has the key %q twice", excerpt(twice))
	}
	return d, nil
}

// excerptOf is the beginning of a text that may be anything.
func excerptOf(text []byte, most int) string {
	return fault.Truncate(strings.ToValidUTF8(string(text[:min(len(text), most+1)]), "\uFFFD"), most)
}

// told puts what a program says of its own failure into the fault: an object as FAULT is, or a text.
func (d *document) told(f *fault.Fault) {
	for _, m := range d.outputs {
		if m.key != errorKey {
			continue
		}
		said := gjson.ParseBytes(m.value)
		if said.Type == gjson.String && said.Str != "" {
			f.Message = fault.Truncate(said.Str, maxSaid)
		}
		if message := said.Get("message"); message.Type == gjson.String && message.Str != "" {
			var own fault.Fault
			_ = json.Unmarshal(m.value, &own) // what is of a wrong type is left out
			if !own.Type.Known() {
				own.Type = f.Type
			}
			own.Message = fault.Truncate(own.Message, maxSaid)
			own.Node, own.File, own.Line, own.Column = "", "", 0, 0 // where it is the runner knows
			*f = own
		}
	}
}

// keep makes the node's outputs of what a program put out. A long text goes into a blob of its own at once.
func (t *Task) keep(outputs []programOutput) (json.RawMessage, error) {
	out := []byte{'{'}
	for i, m := range outputs {
		if i > 0 {
			out = append(out, ',')
		}
		if strings.HasPrefix(m.key, "$") { // as event.Escape does
			m.key = "$" + m.key
		}
		out = append(rawjson.AppendQuoted(out, m.key), ':')
		value := event.Escape(m.value)
		if m.long() {
			text := t.capture()
			pieces(m.value[1:len(m.value)-1], func(piece string) { _, _ = text.Write([]byte(piece)) })
			var err error
			if value, err = text.Value(false); err != nil {
				return nil, err
			}
		}
		out = append(out, value...)
	}
	return append(out, '}'), nil
}

// pieces decodes the inside of a JSON string bit by bit, so that it is not held a second time.
func pieces(inside []byte, take func(text string)) {
	for len(inside) > 0 {
		n := boundary(inside, longLine)
		take(gjson.Parse(`"` + string(inside[:n]) + `"`).Str)
		inside = inside[n:]
	}
}

// boundary is where a JSON string may be cut, at n bytes or a little behind: not inside an escape or a character.
func boundary(inside []byte, n int) int {
	i := 0
	for i < n && i < len(inside) {
		switch {
		case inside[i] != '\\':
			i++
		case inside[i+1] != 'u':
			i += 2
		case strings.ContainsRune("dD", rune(inside[i+2])) && strings.ContainsRune("89abAB", rune(inside[i+3])) && bytes.HasPrefix(inside[i+6:], []byte(`\u`)):
			i += 12 // the two halves of one character
		default:
			i += 6
		}
	}
	for i < len(inside) && !utf8.RuneStart(inside[i]) {
		i++
	}
	return i
}
