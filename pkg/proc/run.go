package proc

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Run starts the command and waits until it and everything in its process group has ended. When ctx is done first, the
// group and, if the command has marks, what has left it are taken down by the ladder, and the error is the context's
// cause. A child that could not be started is a fault: not_found "Command not found: NAME", or execution_error.
//
// It does without os/exec's goroutines and os's files: one thread sleeps on the child's output and its end together. A
// workflow starts so many short processes that this is felt.
func Run(ctx context.Context, c Command) (Exit, error) {
	if err := context.Cause(ctx); err != nil {
		return Exit{}, err
	}
	path, err := Look(c.Path, c.Env, c.Dir)
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
			Dir: c.Dir, Env: c.environment(), Files: f.child[:], Sys: attributes(c.Session),
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
	exit := exitOf(f.drain(pid, handle, c.Stdout, c.Stderr))
	waited.Store(true)
	if stopped() {
		reap(pid, c.grace())
		collectOrphans()
		return exit, nil
	}
	<-ended
	return exit, context.Cause(ctx)
}

// end takes down the child's group and, at the same time, what has left it.
func (c *Command) end(pid int, waited func() bool) {
	var family sync.WaitGroup
	if len(c.Marks) > 0 {
		f := familyOf(pid, c.Marks)
		_, _ = f.find()
		family.Go(func() { f.end(c.grace()) })
	}
	endGroup(pid, c.grace(), waited)
	family.Wait()
}
