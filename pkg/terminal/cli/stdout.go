package cli

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// ReaderGone is the cause of a context that ended because nobody reads standard output any more.
type ReaderGone struct{}

func (ReaderGone) Error() string { return "standard output was closed" }

// ExitStatus is 141, as for a program that SIGPIPE ends.
func (ReaderGone) ExitStatus() int { return 141 }

// WhileRead is the app's context for work that makes sense only as long as somebody reads standard output: it also ends
// when the reader goes away, with ReaderGone as its cause.
func (a *App) WhileRead() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(a.Context)
	a.Stdout.whenClosed(ctx, func() { cancel(ReaderGone{}) })
	return ctx, func() { cancel(nil) }
}

// Stdout is standard output. It remembers that its reader went away, which ends a program with status 141.
type Stdout struct {
	file   *os.File
	closed atomic.Bool
}

// Write writes p in one call and notes a reader that went away.
func (s *Stdout) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	switch {
	case errors.Is(err, syscall.EPIPE):
		s.closed.Store(true)
	case err != nil:
		err = fault.New(fault.Internal, "Cannot write to standard output: %v", fault.Reason(err))
	}
	return n, err
}

// whenClosed calls f when the reader of standard output goes away before ctx ends, also while nothing is written. It works
// on pipes and sockets; nothing else has a reader that can go away.
func (s *Stdout) whenClosed(ctx context.Context, f func()) {
	info, err := s.file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return
	}
	fds := []unix.PollFd{{Fd: int32(s.file.Fd())}} // asked for nothing, poll still tells of errors
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

// Closed says whether the reader of standard output went away.
func (s *Stdout) Closed() bool { return s.closed.Load() }

// Terminal says whether standard output is a terminal.
func (s *Stdout) Terminal() bool { return isatty.IsTerminal(s.file.Fd()) }

// File is the file behind it, for a transport that needs one.
func (s *Stdout) File() *os.File { return s.file }
