package node

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// What a fault shows of what a process has printed.
const (
	maxTailLines = 20
	// minTailLines of each stream are kept as long as lines of the other can go.
	minTailLines = 5
	// maxTailLine is the most bytes of a line if not all fit.
	maxTailLine = 300
)

// tail keeps the last lines of what a process writes to its standard output and its standard error, in the order in which they are read:
// programs write the reason of a failure to either. Its zero value is ready for use.
type tail struct {
	mu      sync.Mutex
	read    int // lines, of both streams
	streams [2]tailStream
}

// tailStream has the last lines of one stream.
type tailStream struct {
	lines []tailLine
	// rest is a line that has not ended.
	rest []byte
	cut  bool
}

type tailLine struct {
	stream, number int
	text           string
}

// stdout and stderr return the writers of the streams. They never fail.
func (t *tail) stdout() io.Writer { return tailWriter{t, 0} }
func (t *tail) stderr() io.Writer { return tailWriter{t, 1} }

type tailWriter struct {
	tail   *tail
	stream int
}

func (w tailWriter) Write(p []byte) (int, error) {
	w.tail.mu.Lock()
	defer w.tail.mu.Unlock()
	s := &w.tail.streams[w.stream]
	for rest := s.last(p); len(rest) > 0; {
		line, more, ended := bytes.Cut(rest, []byte("\n"))
		if s.rest = append(s.rest, line[max(0, len(line)-2*maxTail):]...); len(s.rest) > 2*maxTail {
			s.rest, s.cut = append(s.rest[:0], s.rest[len(s.rest)-maxTail:]...), true
		}
		if rest = more; ended {
			w.tail.end(w.stream)
		}
	}
	return len(p), nil
}

// last returns the lines at the end of what is written that can be among the last ones, and drops what is before them: a program may print
// millions of lines.
func (s *tailStream) last(p []byte) []byte {
	at := len(p)
	for range maxTailLines + 1 {
		if at = bytes.LastIndexByte(p[:at], '\n'); at < 0 {
			return p
		}
	}
	s.rest, s.cut = s.rest[:0], true
	return p[at+1:]
}

// end ends the line of a stream.
func (t *tail) end(stream int) {
	s := &t.streams[stream]
	t.read++
	text := strings.TrimRight(strings.ToValidUTF8(string(s.rest), "\uFFFD"), "\r")
	s.rest = s.rest[:0]
	if text = text[strings.LastIndexByte(text, '\r')+1:]; strings.TrimSpace(text) == "" && len(s.lines) == 0 { // a progress bar writes over itself
		return
	}
	if s.lines = append(s.lines, tailLine{stream, t.read, text}); len(s.lines) > maxTailLines {
		s.lines, s.cut = slices.Delete(s.lines, 0, 1), true
	}
}

// text returns the last lines, of both streams if both have some, in at most maxTail bytes. A text that was cut begins with …, so that
// redaction recognizes a part of a secret. Standard output is left out if it is binary. Nothing may be written any more.
func (t *tail) text(binary bool) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []tailLine
	var left [2]int
	cut, size := false, 0
	for i := range t.streams {
		if i == 0 && binary {
			continue
		}
		if len(t.streams[i].rest) > 0 {
			t.end(i)
		}
		cut = cut || t.streams[i].cut
		lines = append(lines, t.streams[i].lines...)
		left[i] = len(t.streams[i].lines)
	}
	slices.SortFunc(lines, func(a, b tailLine) int { return a.number - b.number })
	for i := range lines {
		size += len(lines[i].text) + 1
	}
	if size > maxTail && len(lines) > 1 {
		size = 0
		for i := range lines {
			lines[i].text = fault.Truncate(lines[i].text, maxTailLine)
			size += len(lines[i].text) + 1
		}
	}
	for len(lines) > maxTailLines || len(lines) > 1 && size > maxTail {
		i := max(0, slices.IndexFunc(lines, func(l tailLine) bool { return left[l.stream] > minTailLines || left[1-l.stream] == 0 }))
		size -= len(lines[i].text) + 1
		left[lines[i].stream]--
		lines, cut = slices.Delete(lines, i, i+1), true
	}
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(line.text + "\n")
	}
	whole := strings.TrimSpace(text.String())
	if len(whole) > maxTail {
		whole, cut = strings.ToValidUTF8(whole[len(whole)-maxTail:], ""), true
	}
	if whole == "" || !cut || strings.HasPrefix(whole, "…") {
		return whole
	}
	return "…" + whole
}
