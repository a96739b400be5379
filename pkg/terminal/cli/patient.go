package cli

import (
	"bytes"
	"context"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// patientFile writes to a file whose reader may be slow. It waits for the reader, also after a signal, as long as the reader
// reads at all: a write that makes no progress for stuckAfter after the signal fails with the signal, and all after it at once.
type patientFile struct {
	file *os.File
	// ctx ends with a signal.
	ctx context.Context
	// waits is true if a write may wait for a reader: the file is a pipe, a socket or a terminal.
	waits bool
	stuck atomic.Bool
}

const (
	// stuckAfter is the time without progress after which a reader counts as stuck, once a signal has come.
	stuckAfter = 2 * time.Second
	// atOnce is the most bytes that a pipe takes without waiting if it takes any (POSIX: PIPE_BUF).
	atOnce = 4096
	// pieceSize is how much is written in one call, and without looking at the progress: a whole line of events.
	pieceSize = 1 << 20
)

func newPatientFile(ctx context.Context, file *os.File) *patientFile {
	info, err := file.Stat()
	return &patientFile{file: file, ctx: ctx, waits: err == nil && !info.Mode().IsRegular()}
}

// Write writes p, up to pieceSize in one call.
func (f *patientFile) Write(p []byte) (int, error) {
	if !f.waits || len(p) <= atOnce && f.ready() {
		return f.file.Write(p)
	}
	written := 0
	for len(p) > 0 {
		piece := p[:min(len(p), pieceSize)]
		n, err := f.writePiece(piece)
		if written += n; err != nil {
			return written, err
		}
		p = p[len(piece):]
	}
	return written, nil
}

// ready reports whether a short write does not wait.
func (f *patientFile) ready() bool {
	fds := []unix.PollFd{{Fd: int32(f.file.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}

// writePiece writes beside the caller. A write that is stuck goes on after it has returned.
func (f *patientFile) writePiece(p []byte) (int, error) {
	if f.stuck.Load() {
		return 0, context.Cause(f.ctx)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	p = bytes.Clone(p)
	go func() {
		n, err := f.file.Write(p)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-f.ctx.Done():
	}
	timer := time.NewTimer(stuckAfter)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.n, r.err
	case <-timer.C:
		f.stuck.Store(true)
		return 0, context.Cause(f.ctx)
	}
}
