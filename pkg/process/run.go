package process

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Run starts the command and waits until it and everything in its process group, or in its terminal's session, has ended.
// What has left these and still holds the output is ended too, if the command has marks. When ctx is done first, the group
// and, if the command has marks, what has left it are taken down by the ladder, and the error is the context's cause. A child that could not be started is a fault: not_found "Command not found: NAME", or execution_error.
//
// It does without os/exec's goroutines and os's files: one thread sleeps on the child's output and its end together. A
// workflow starts so many short processes that this is felt.
func Run(ctx context.Context, c Command) (Exit, error) {
	if err := context.Cause(ctx); err != nil {
		return Exit{}, err
	}
	path, err := LookPath(c.Path, c.Env, c.Dir)
	if err != nil {
		return Exit{}, err
	}
	var f childFiles
	defer f.close()
	if err := f.open(&c); err != nil {
		return Exit{}, tooMany(fault.New(fault.Execution, "Cannot start %s: %v", c.Path, err), err)
	}
	handle := none
	pid, err := started(&c, func() (pid int, err error) {
		pid, handle, err = start(path, c.argv(), &syscall.ProcAttr{
			Dir: c.Dir, Env: c.environment(), Files: f.child, Sys: attributes(&c),
		})
		return pid, err
	})
	if err != nil {
		return Exit{}, c.startFault(err)
	}
	defer done(pid)
	f.started()
	var waited atomic.Bool
	ended := make(chan struct{})
	stopped := context.AfterFunc(ctx, func() {
		defer close(ended)
		c.end(pid, waited.Load)
	})
	status, held := f.drain(pid, handle, &c)
	exit := exitOf(status)
	waited.Store(true)
	if stopped() {
		reap(pid, c.grace())
		if c.TTY {
			endSession(pid, c.grace())
		}
		if held && len(c.Marks) > 0 { // in a session of its own, or the group's end would have closed it
			endHolders(c.grace(), c.Marks)
		}
		collectOrphans()
		return exit, nil
	}
	<-ended
	return exit, context.Cause(ctx)
}

// end takes down the child's group and, at the same time, what has left it.
func (c *Command) end(pid int, waited func() bool) {
	var family sync.WaitGroup
	if len(c.Marks) > 0 || c.TTY {
		f := familyOf(pid, c)
		_, _ = f.find()
		family.Go(func() { f.end(c.grace()) })
	}
	endGroup(pid, c.grace(), waited)
	family.Wait()
}
