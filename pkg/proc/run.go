package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Run starts the command and waits until it and everything in its process group has ended. When ctx is done first, the
// group and, if the command has marks, what has left it are taken down by the ladder, and the error is the context's
// cause. A child that could not be started is a
// fault: not_found "Command not found: NAME", or execution_error.
//
// It does without os/exec's goroutines: one thread sleeps on the child's output and its end together. A workflow starts
// so many short processes that this is felt.
func Run(ctx context.Context, c Command) (Exit, error) {
	if err := context.Cause(ctx); err != nil {
		return Exit{}, err
	}
	path, err := Look(c.Path, c.Env, c.Dir)
	if err != nil {
		return Exit{}, err
	}
	var files childFiles
	defer files.close()
	if err := files.open(&c); err != nil {
		return Exit{}, fault.New(fault.Execution, "Cannot start %s: %v", c.Path, err)
	}
	p, err := os.StartProcess(path, append([]string{c.Path}, c.Args...), &os.ProcAttr{
		Dir: c.Dir, Env: c.environment(), Files: files.child[:], Sys: attributes(c.Session),
	})
	if err != nil {
		return Exit{}, c.startFault(err)
	}
	groups.Store(p.Pid, true)
	defer groups.Delete(p.Pid)
	files.started()
	var waited atomic.Bool
	ended := make(chan struct{})
	stopped := context.AfterFunc(ctx, func() {
		defer close(ended)
		c.end(p.Pid, waited.Load)
	})
	state := files.drain(p, c.Stdout, c.Stderr)
	waited.Store(true)
	if stopped() {
		reap(p.Pid, c.grace())
		return exitOf(state), nil
	}
	<-ended
	return exitOf(state), context.Cause(ctx)
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

// childFiles are the descriptors of one child.
type childFiles struct {
	child  [3]*os.File // the child's ends
	output [2]int      // this program's ends of stdout and stderr
	feed   *os.File    // this program's end of stdin
	source io.Reader
}

// open makes a pipe for each of stdout and stderr, and one for stdin when there is something to read.
func (f *childFiles) open(c *Command) (err error) {
	f.output = [2]int{-1, -1}
	for i := range f.output {
		var write int
		if f.output[i], write, err = pipe(); err != nil {
			return err
		}
		f.child[1+i] = os.NewFile(uintptr(write), "|1")
	}
	if c.Stdin == nil {
		f.child[0], err = os.Open(os.DevNull)
		return err
	}
	f.source = c.Stdin
	f.child[0], f.feed, err = os.Pipe()
	return err
}

// started closes the child's ends, which it has now, and begins to feed its stdin.
func (f *childFiles) started() {
	for i, file := range f.child {
		_ = file.Close()
		f.child[i] = nil
	}
	if feed := f.feed; feed != nil {
		go func() {
			_, _ = io.Copy(feed, f.source) // a child that does not read to the end is no fault
			_ = feed.Close()
		}()
	}
}

func (f *childFiles) close() {
	for _, file := range f.child {
		if file != nil {
			_ = file.Close()
		}
	}
	for _, fd := range f.output {
		if fd > 0 {
			_ = unix.Close(fd)
		}
	}
	if f.feed != nil {
		_ = f.feed.Close()
	}
}

// buffers are what output is read into.
var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// drain passes on the child's output until both pipes are at their end, or until the child has ended and the time to
// drain what others still hold open is over; then it waits for the child.
func (f *childFiles) drain(p *os.Process, stdout, stderr io.Writer) *os.ProcessState {
	buffer, _ := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	ended, wait := watch(p)
	writers := []io.Writer{stdout, stderr}
	fds := []unix.PollFd{
		{Fd: int32(f.output[0]), Events: unix.POLLIN}, {Fd: int32(f.output[1]), Events: unix.POLLIN}, {Fd: int32(ended), Events: unix.POLLIN},
	}
	open, timeout, deadline := len(writers), -1, time.Time{}
	for open > 0 && timeout != 0 {
		n, err := unix.Poll(fds, timeout)
		if err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
		for i, w := range writers {
			if n <= 0 || fds[i].Revents == 0 {
				continue
			}
			k, err := unix.Read(int(fds[i].Fd), *buffer)
			switch {
			case k > 0 && w != nil:
				_, _ = w.Write((*buffer)[:k])
			case k > 0, errors.Is(err, unix.EINTR):
			default:
				fds[i].Fd = -1
				open--
			}
		}
		if n > 0 && fds[2].Fd >= 0 && fds[2].Revents != 0 {
			fds[2].Fd, deadline = -1, time.Now().Add(drain)
		}
		if !deadline.IsZero() {
			timeout = int(max(0, time.Until(deadline).Milliseconds()))
		}
	}
	return wait()
}
