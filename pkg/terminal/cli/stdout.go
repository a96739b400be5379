package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// ReaderGone is the cause of a context that ended because the reader of standard output went away.
type ReaderGone struct{}

func (ReaderGone) Error() string { return "standard output was closed" }

// ExitStatus returns 141, the status of a program that SIGPIPE ends.
func (ReaderGone) ExitStatus() int { return 141 }

// WhileRead returns a context for work that is useful only while standard output is read. It ends with the app's context, or
// with the cause ReaderGone when the reader goes away.
func (a *App) WhileRead() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(a.Context)
	a.Stdout.whenClosed(ctx, func() { cancel(ReaderGone{}) })
	return ctx, func() { cancel(nil) }
}

// Stdout is standard output. It records that its reader went away, which ends a program with status 141.
type Stdout struct {
	file   *os.File
	to     *patientFile
	closed atomic.Bool
	// writing counts the writes that go on.
	writing atomic.Int32
	// safe makes text harmless on its way to the file. It is nil if standard output is not a terminal.
	safe *cells.Writer
}

// newStdout returns a Stdout whose writes do not wait for a stuck reader any more when ctx has ended.
func newStdout(ctx context.Context, file *os.File) *Stdout {
	s := &Stdout{file: file, to: newPatientFile(ctx, file)}
	if s.Terminal() {
		s.safe = cells.NewWriter(s.to)
	}
	return s
}

// Raw makes Write send text to a terminal as it is, with its control characters.
func (s *Stdout) Raw() { s.safe = nil }

// Write writes p, up to 1 MiB in one call. On a terminal it writes text that is safe to show, see cells.Safe. It records that the
// reader went away. If the reader does not read, it fails with the signal that ends the program.
func (s *Stdout) Write(p []byte) (int, error) {
	var w io.Writer = s.to
	if s.safe != nil {
		w = s.safe
	}
	s.writing.Add(1)
	n, err := w.Write(p)
	s.writing.Add(-1)
	switch {
	case errors.Is(err, syscall.EPIPE):
		s.closed.Store(true)
	case errors.Is(err, context.Canceled): // by a signal
	case err != nil:
		err = fault.New(fault.Internal, "Cannot write to standard output: %v", fault.Reason(err))
	}
	return n, err
}

// whenClosed calls f when the reader of standard output goes away before ctx ends, even if nothing is written. It works for
// pipes and sockets; no other file has a reader that can go away.
func (s *Stdout) whenClosed(ctx context.Context, f func()) {
	info, err := s.file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return
	}
	fds := []unix.PollFd{{Fd: int32(s.file.Fd())}} // even without requested events, poll reports errors
	go func() {
		for {
			n, err := unix.Poll(fds, -1)
			if n > 0 && ctx.Err() == nil {
				s.closed.Store(true)
				f()
			}
			if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
}

// Closed reports whether the reader of standard output went away.
func (s *Stdout) Closed() bool { return s.closed.Load() }

// Terminal reports whether standard output is a terminal.
func (s *Stdout) Terminal() bool { return isatty.IsTerminal(s.file.Fd()) }

// Columns returns the width of the terminal that standard output is, or 0 if it is another file.
func (s *Stdout) Columns() int { return columnsOf(s.file) }

// File returns the underlying file, for a transport that needs one.
func (s *Stdout) File() *os.File { return s.file }
