package main

import (
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// logPage is the end of the output of a run's nodes, in a limited number of bytes.
type logPage struct {
	RunID string   `json:"run_id"`
	Logs  []logged `json:"logs"`
	// Omitted counts the lines before that are left out.
	Omitted int `json:"omitted,omitempty"`

	sizes []int
	size  int
}

// add appends a line, and leaves out the first ones if all have more than the given number of bytes. Of a line that is longer than
// that alone, only the end is kept.
func (p *logPage) add(node, stream string, piece []byte, most int) error {
	line := logged{node, stream, event.String(piece)}
	raw, err := rawjson.Marshal(line)
	for err == nil && len(raw) >= most && len(piece) > 0 {
		piece = end(piece, len(piece)/2)
		line.Text = event.String(piece)
		raw, err = rawjson.Marshal(line)
	}
	if err != nil {
		return err
	}
	size := len(raw) + len(",")
	p.Logs, p.sizes, p.size = append(p.Logs, line), append(p.sizes, size), p.size+size
	for p.size > most && len(p.Logs) > 1 {
		p.size -= p.sizes[0]
		p.Logs, p.sizes = p.Logs[1:], p.sizes[1:]
		p.Omitted++
	}
	return nil
}

// end returns at most the last n bytes of a text, from the beginning of a character on.
func end(text []byte, n int) []byte {
	text = text[len(text)-n:]
	for i := range min(len(text), utf8.UTFMax) {
		if utf8.RuneStart(text[i]) {
			return text[i:]
		}
	}
	return text
}
