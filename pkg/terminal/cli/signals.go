package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/process"
)

// Interrupted is the cause of a context that a signal has cancelled.
type Interrupted struct{ Signal syscall.Signal }

func (i Interrupted) Error() string { return "stopped by " + unix.SignalName(i.Signal) }

// Is reports whether target is context.Canceled, so that an interruption counts as a cancellation.
func (i Interrupted) Is(target error) bool { return target == context.Canceled }

// ExitStatus returns 128 plus the signal's number: 129, 130, 131, 134 or 143.
func (i Interrupted) ExitStatus() int { return 128 + int(i.Signal) }

// hangupWindow is the time within which a second SIGHUP counts as part of the first.
const hangupWindow = time.Second

// Hangups returns a channel that receives a value for a SIGHUP. After the call, SIGHUP does not end the program: it is how people ask a
// server to read its configuration again. Several signals can be one value.
func Hangups(a *App) <-chan struct{} {
	channel := make(chan struct{}, 1)
	a.hangups.channel.Store(&channel)
	return channel
}

// hangups passes each SIGHUP to the channel that Hangups has returned, if there is one.
type hangups struct{ channel atomic.Pointer[chan struct{}] }

// pass passes a signal on, and reports whether there is a channel.
func (h *hangups) pass() bool {
	channel := h.channel.Load()
	if channel == nil {
		return false
	}
	select {
	case *channel <- struct{}{}:
	default: // the receiver has not yet seen the one before
	}
	return true
}

// endsWithin is how long a command may take to end after a signal, unless it says otherwise.
const endsWithin = 5 * time.Second

// EndsWithin says how long the command may take from now on to end after a signal, because it ends other processes in order.
func (a *App) EndsWithin(limit time.Duration) { a.endsWithin.Store(int64(limit)) }

// giveUp ends the process if the command has not ended some time after a signal: it waits for a file system that does not answer. A command
// that writes to standard output may go on: what that waits for has a limit of its own.
func (a *App) giveUp(sig syscall.Signal) {
	for began := time.Now(); a.endsWithin.Load() > 0; time.Sleep(100 * time.Millisecond) {
		if a.Stdout.writing.Load() > 0 {
			began = time.Now()
		}
		if time.Since(began) > time.Duration(a.endsWithin.Load()) {
			process.KillChildren()
			a.exit(128 + int(sig))
			return
		}
	}
}

// handleSignals cancels the app's context on the first SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGABRT and ends the process on the second. A
// signal that the program was started to ignore, as by nohup, stays ignored. A second SIGHUP within hangupWindow is ignored
// too: when a terminal closes, the kernel and the shell send one each. After Hangups, SIGHUP does none of this.
//
// SIGUSR1 comes from other programs of the suite. It cancels like SIGTERM, however often it comes. SIGPIPE is caught so that
// a write to a closed pipe returns an error; children start with its default action.
func (a *App) handleSignals() (stop func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGPIPE, syscall.SIGUSR1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT} {
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
			case sig == syscall.SIGPIPE, sig == syscall.SIGHUP && (a.hangups.pass() || first == sig && time.Since(at) < hangupWindow):
			case sig == syscall.SIGUSR1:
				a.cancel(Interrupted{syscall.SIGTERM})
			case first != 0:
				process.KillChildren()
				a.exit(128 + int(sig))
				return
			default:
				first, at = sig, time.Now()
				a.cancel(Interrupted{sig})
				go a.giveUp(sig)
			}
		}
	}()
	return func() { signal.Stop(signals); close(signals) }
}
