package agent

import "bytes"

// maxLine is the most bytes of one line of a stream. A line holds one message, with a file that was read, or an image.
const maxLine = 16 << 20

// lines gives what is written to it line by line, and holds no more than one.
type lines struct {
	take func(line []byte)
	// long is called once, when a line is longer than limit. Nothing is taken from then on.
	long  func()
	limit int
	part  []byte
	over  bool
}

// Write never fails.
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

// end gives the last line when no newline stands behind it.
func (l *lines) end() {
	if len(l.part) > 0 && !l.over {
		l.take(l.part)
		l.part = nil
	}
}
