package engine

import (
	"bytes"
	"errors"
	"io"
)

// nodeLog stores what a node prints, without secrets. Errors of storing do not stop the node: Close returns them.
type nodeLog struct {
	clean io.WriteCloser
	lines *wholeLines
	file  io.Closer
	err   error
	// printed is set when something was written.
	printed bool
}

// nodeLog returns the log of a task's stdout or stderr. The items of a batch write whole lines, for they share a log.
func (a *attempts) nodeLog(t *task, path, stream string) *nodeLog {
	file := a.store.journal.Log(path, stream)
	l := &nodeLog{file: file}
	l.clean = a.store.redactor.Writer(file)
	if t.step.Item >= 0 {
		l.lines = &wholeLines{to: file}
		l.clean = a.store.redactor.Writer(l.lines)
	}
	return l
}

// Write never fails.
func (l *nodeLog) Write(p []byte) (int, error) {
	l.printed = l.printed || len(p) > 0
	if l.err == nil {
		_, l.err = l.clean.Write(p)
	}
	return len(p), nil
}

// Close returns the first error that occurred.
func (l *nodeLog) Close() error {
	if l.err == nil {
		l.err = l.clean.Close()
	}
	if l.err == nil && l.lines != nil {
		l.err = l.lines.end()
	}
	return errors.Join(l.err, l.file.Close())
}

// wholeLines passes on whole lines, except very long ones.
type wholeLines struct {
	to   io.Writer
	rest []byte
}

// longLine is the length from which a line is passed on in pieces.
const longLine = 64 << 10

// Write passes on the whole lines that have come so far.
func (l *wholeLines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	end := bytes.LastIndexByte(l.rest, '\n') + 1
	if end == 0 && len(l.rest) >= longLine {
		end = len(l.rest)
	}
	if end == 0 {
		return len(p), nil
	}
	_, err := l.to.Write(l.rest[:end])
	l.rest = append(l.rest[:0], l.rest[end:]...)
	return len(p), err
}

// end passes on the last line, with a newline.
func (l *wholeLines) end() error {
	if len(l.rest) == 0 {
		return nil
	}
	_, err := l.to.Write(append(l.rest, '\n'))
	return err
}
