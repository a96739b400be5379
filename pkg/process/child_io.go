package process

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// childIO holds the descriptors through which Run talks to one child. A descriptor that is not open is noFD.
type childIO struct {
	child  []uintptr // the child's ends
	output []int     // this program's ends of stdout and stderr, and of the results if there are any
	ours   []int     // the child's ends that this program has to close
	stdin  *os.File  // the child's end of its stdin; nil if that is devNull
	feed   *os.File  // this program's end of the child's stdin
	source io.Reader // what is copied to feed
	typist *typist   // types at the terminal of a child that has one, else nil

	// passing is held while output is passed on. After abandoned is set, output is discarded.
	passing   sync.Mutex
	abandoned bool
}

// abandon has no more output passed on.
func (f *childIO) abandon() {
	f.passing.Lock()
	defer f.passing.Unlock()
	f.abandoned = true
}

// pass passes output on.
func (f *childIO) pass(w io.Writer, output []byte) {
	f.passing.Lock()
	defer f.passing.Unlock()
	if !f.abandoned {
		_, _ = w.Write(output)
	}
}

// noFD stands for a descriptor that is not open.
const noFD = -1

// devNull is the standard input of every child without input. It stays open.
var devNull = sync.OnceValues(func() (int, error) { return unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0) })

// open opens what the child reads and writes: a pipe for each output and, if there is input, for stdin; or a terminal.
func (f *childIO) open(c *Command) (err error) {
	outputs := 2
	if c.Results != nil {
		outputs++
	}
	f.child = make([]uintptr, 1+outputs)
	f.output = slices.Repeat([]int{noFD}, outputs)
	for i := range f.output {
		if c.TTY && i < 2 {
			continue
		}
		var write int
		if f.output[i], write, err = newPipe(); err != nil {
			return err
		}
		f.child[1+i], f.ours = uintptr(write), append(f.ours, write)
	}
	switch {
	case c.TTY:
		return f.openTTY(c)
	case c.Stdin == nil:
		stdin, err := devNull()
		f.child[0] = uintptr(stdin)
		return err
	}
	f.source = c.Stdin
	if f.stdin, f.feed, err = os.Pipe(); err == nil { // unlike those of newPipe, its ends can be closed while a goroutine waits for them
		f.child[0] = f.stdin.Fd()
	}
	return err
}

// openTTY connects the child to a terminal. Its input goes through a pipe, so that the typist can poll for it.
func (f *childIO) openTTY(c *Command) error {
	t, err := openTerminal(c.Stdout)
	f.typist = newTypist(t)
	if err != nil {
		return err
	}
	f.output[0] = t.ours
	for i := range 3 {
		f.child[i] = uintptr(t.child)
	}
	if c.Stdin == nil {
		return nil
	}
	var read, write int
	if read, write, err = newPipe(); err == nil {
		f.source, f.feed = c.Stdin, os.NewFile(uintptr(write), "")
		f.typist.source, f.typist.pipe = read, read
	}
	return err
}

// childStarted closes the child's ends, which the child now holds itself, and starts to copy its input.
func (f *childIO) childStarted() {
	f.release()
	if feed := f.feed; feed != nil {
		go func() {
			_, _ = io.Copy(feed, f.source) // a child need not read all its input
			_ = feed.Close()
		}()
	}
}

// release closes the child's ends in this program.
func (f *childIO) release() {
	for _, fd := range f.ours {
		_ = unix.Close(fd)
	}
	f.ours = nil
	if f.stdin != nil {
		_ = f.stdin.Close()
	}
}

// close closes all descriptors.
func (f *childIO) close() {
	f.release()
	for i, fd := range f.output {
		if fd != noFD && (i > 0 || f.typist == nil) {
			_ = unix.Close(fd)
		}
	}
	if f.typist != nil {
		f.typist.close()
	}
	if f.feed != nil {
		_ = f.feed.Close()
	}
}

// buffers holds buffers of 64 KiB for output.
var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// drain passes on the child's output until its pipes are closed, or until drainTime after the child has ended; then it reaps
// the child and returns its status. handle becomes readable when the child ends, see startProcess. held reports whether
// another process still holds a pipe open.
func (f *childIO) drain(pid, handle int, c *Command) (status syscall.WaitStatus, held bool) {
	f.setPID(pid)
	buffer, _ := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	wait := func() syscall.WaitStatus { return waitFor(pid) }
	if handle == noFD {
		handle, wait = watchChild(pid)
	}
	writers := []io.Writer{c.Stdout, c.Stderr, c.Results}[:len(f.output)]
	if f.typist != nil {
		writers[0] = f.typist
	}
	fds := make([]unix.PollFd, len(writers)+1)
	for i, fd := range append(slices.Clone(f.output), handle) {
		fds[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	}
	end := &fds[len(writers)]
	open, timeout, deadline := len(writers), -1, time.Time{}
	if f.typist != nil { // a terminal has no separate stderr
		open--
	}
	for open > 0 && timeout != 0 {
		n, err := unix.Poll(fds, f.pollTimeout(timeout))
		if err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
		for i, w := range writers {
			switch {
			case n <= 0 || fds[i].Revents == 0:
				continue
			case fds[i].Revents == unix.POLLHUP: // and there is nothing left to read
				fds[i].Fd = noFD
				open--
				continue
			}
			k, err := unix.Read(int(fds[i].Fd), *buffer)
			switch {
			case k > 0 && w != nil:
				f.pass(w, (*buffer)[:k])
			case k > 0, errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			default:
				fds[i].Fd = noFD
				open--
			}
		}
		if n > 0 && end.Fd >= 0 && end.Revents != 0 {
			end.Fd, deadline = noFD, time.Now().Add(drainTime)
			f.childEnded()
		}
		if !deadline.IsZero() {
			timeout = int(max(0, time.Until(deadline).Milliseconds()))
		}
	}
	status = wait()
	if handle != noFD {
		_ = unix.Close(handle)
	}
	return status, open > 0
}

// pollTimeout lets the typist take a step, if there is one, and returns how long to poll, in milliseconds. timeout is the
// result without a typist.
func (f *childIO) pollTimeout(timeout int) int {
	if f.typist == nil || f.typist.child == noFD {
		return timeout
	}
	return int(f.typist.step()/time.Millisecond) + 1
}

// setPID sets the process that reads from the terminal.
func (f *childIO) setPID(pid int) {
	if f.typist != nil {
		f.typist.pid = pid
	}
}

// childEnded is called when the child has ended.
func (f *childIO) childEnded() {
	if f.typist != nil {
		f.typist.leave()
	}
}
