package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/process"
)

// Interrupted is the cause of a context that a signal cancelled.
type Interrupted struct{ Signal syscall.Signal }

func (i Interrupted) Error() string { return "stopped by " + unix.SignalName(i.Signal) }

// Is makes it one of the ways in which a context is cancelled.
func (i Interrupted) Is(target error) bool { return target == context.Canceled }

// ExitStatus is 128 plus the signal's number: 129, 130 or 143.
func (i Interrupted) ExitStatus() int { return 128 + int(i.Signal) }

// closing is longer than it takes a terminal to be closed.
const closing = time.Second

// handleSignals cancels the app's context on the first signal and ends the process on the second. SIGUSR1 is what another
// program of the suite asks with: it cancels as SIGTERM does, however often it comes. Nor does a SIGHUP count that
// follows another at once: when a terminal is closed, the kernel and the shell send one each. SIGPIPE is taken too, so that a write to a closed pipe
// is an error and not a death; a child gets its default back when it starts. What the program was started to ignore, as by
// nohup, it ignores.
func (a *App) handleSignals() (stop func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGPIPE, syscall.SIGUSR1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		var first syscall.Signal
		var at time.Time
		for s := range signals {
			sig, _ := s.(syscall.Signal)
			switch {
			case sig == syscall.SIGPIPE, sig == syscall.SIGHUP && first == sig && time.Since(at) < closing:
			case sig == syscall.SIGUSR1:
				a.cancel(Interrupted{syscall.SIGTERM})
			case first != 0:
				process.KillChildren()
				a.exit(128 + int(sig))
				return
			default:
				first, at = sig, time.Now()
				a.cancel(Interrupted{sig})
			}
		}
	}()
	return func() { signal.Stop(signals); close(signals) }
}
