package process

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Run starts the command and waits for the child. Then it ends what is left of the child's process group, or of its
// terminal's session. If the command has marks, it also ends processes that have left these and still hold the output open.
//
// If ctx is done first, Run ends the group and, if the command has marks, what has left it: SIGTERM, the grace, SIGKILL. The
// error is then the context's cause. A child that does not end even so, because it waits in the kernel for a file system that does not answer,
// is given up: it is collected when it ends. If the child cannot be started, the error is a fault: not_found with "Command not
// found: NAME", or execution_error.
//
// Run does not use os/exec with its goroutines and files: one thread waits for the child's output and its end together. A
// workflow starts so many short processes that the difference is noticeable.
func Run(ctx context.Context, c Command) (Exit, error) {
	if err := context.Cause(ctx); err != nil {
		return Exit{}, err
	}
	path, err := LookPath(c.Path, c.Env, c.Dir)
	if err != nil {
		return Exit{}, err
	}
	f := &childIO{}
	if err := f.open(&c); err != nil {
		f.close()
		return Exit{}, tooMany(fault.New(fault.Execution, "Cannot start %s: %v", c.Path, err), err)
	}
	handle := noFD
	pid, err := register(&c, func() (pid int, err error) {
		pid, handle, err = startProcess(path, c.argv(), &syscall.ProcAttr{
			Dir: c.Dir, Env: c.environment(), Files: f.child, Sys: attributes(&c),
		})
		return pid, err
	})
	if err != nil {
		f.close()
		return Exit{}, c.startFault(err)
	}
	defer unregister(pid)
	f.childStarted()
	var reaped atomic.Bool
	ended := make(chan struct{})
	stopped := context.AfterFunc(ctx, func() {
		defer close(ended)
		c.end(pid, reaped.Load)
	})
	var exit Exit
	var held bool
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		var status syscall.WaitStatus
		status, held = f.drain(pid, handle, &c)
		exit = exitOf(status)
		reaped.Store(true)
	}()
	select {
	case <-drained:
	case <-ended: // or nearly: the last of what was killed may still be on its way
		select {
		case <-drained:
		case <-time.After(drainTime + giveUpAfter):
			f.abandon()
			go func() {
				<-drained
				f.close()
			}()
			return Exit{}, context.Cause(ctx)
		}
	}
	defer f.close()
	if stopped() {
		endLeftovers(pid, c.grace())
		if c.TTY {
			endSession(pid, c.grace())
		}
		if held && len(c.Marks) > 0 { // a process outside the group holds it
			endHolders(c.grace(), c.Marks)
		}
		collectOrphans()
		return exit, nil
	}
	<-ended
	return exit, context.Cause(ctx)
}

// giveUpAfter is how long a child that was killed may take to end, once its group has had its grace.
const giveUpAfter = time.Second

// end ends the child's group and, at the same time, what has left it; see endGroup for reaped.
func (c *Command) end(pid int, reaped func() bool) {
	var family sync.WaitGroup
	if len(c.Marks) > 0 || c.TTY {
		f := familyOf(pid, c)
		_, _ = f.find()
		family.Go(func() { f.end(c.grace()) })
	}
	endGroup(pid, c.grace(), reaped)
	family.Wait()
}
