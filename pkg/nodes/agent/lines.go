package agent

import "bytes"

// maxLine is the maximum length of a line in bytes. A line holds one message, which may have the contents of a file or an image.
const maxLine = 16 << 20

// lines is a writer that passes complete lines on. It holds at most one line.
type lines struct {
	take func(line []byte)
	// long is called once, for the first line longer than limit. All later input is discarded.
	long  func()
	limit int
	part  []byte
	over  bool
}

// Write never returns an error.
func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for !l.over && len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		if len(l.part)+len(line) > l.limit {
			l.over, l.part = true, nil
			l.long()
			break
		}
		switch {
		case !ended:
			l.part = append(l.part, line...)
		case len(l.part) > 0:
			l.part = append(l.part, line...)
			l.take(l.part)
			l.part = l.part[:0]
		default:
			l.take(line)
		}
		p = rest
	}
	return n, nil
}

// end passes the last line on, if it has no newline.
func (l *lines) end() {
	if len(l.part) > 0 && !l.over {
		l.take(l.part)
		l.part = nil
	}
}
