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

// childFiles are the descriptors of one child. Those that are not open are none, but for the child's stdin, which may be
// shared.
type childFiles struct {
	child  []uintptr // the child's ends
	output []int     // this program's ends of stdout and stderr, and of the results if there are any
	ours   []int     // the child's ends that are to be closed here
	stdin  *os.File  // the child's end of a stdin that is not shared
	feed   *os.File  // this program's end of it
	source io.Reader
	typist *typist // of a child with a terminal
}

const none = -1

// nothing is what a child without input reads; it is open as long as this program lives.
var nothing = sync.OnceValues(func() (int, error) { return unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0) })

// open makes a pipe for each of stdout and stderr, and one for stdin when there is something to read.
func (f *childFiles) open(c *Command) (err error) {
	outputs := 2
	if c.Results != nil {
		outputs++
	}
	f.child = make([]uintptr, 1+outputs)
	f.output = slices.Repeat([]int{none}, outputs)
	for i := range f.output {
		if c.TTY && i < 2 {
			continue
		}
		var write int
		if f.output[i], write, err = pipe(); err != nil {
			return err
		}
		f.child[1+i], f.ours = uintptr(write), append(f.ours, write)
	}
	switch {
	case c.TTY:
		return f.seat(c)
	case c.Stdin == nil:
		stdin, err := nothing()
		f.child[0] = uintptr(stdin)
		return err
	}
	f.source = c.Stdin
	if f.stdin, f.feed, err = os.Pipe(); err == nil { // whose ends can be closed while they are waited at
		f.child[0] = f.stdin.Fd()
	}
	return err
}

// seat puts the child at a terminal. What is to be typed there comes through a pipe, whose reader may be waited for.
func (f *childFiles) seat(c *Command) error {
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
	if read, write, err = pipe(); err == nil {
		f.source, f.feed = c.Stdin, os.NewFile(uintptr(write), "")
		f.typist.source, f.typist.pipe = read, read
	}
	return err
}

// started closes the child's ends, which it has now, and begins to feed its stdin.
func (f *childFiles) started() {
	f.release()
	if feed := f.feed; feed != nil {
		go func() {
			_, _ = io.Copy(feed, f.source) // a child that does not read to the end is no fault
			_ = feed.Close()
		}()
	}
}

func (f *childFiles) release() {
	for _, fd := range f.ours {
		_ = unix.Close(fd)
	}
	f.ours = nil
	if f.stdin != nil {
		_ = f.stdin.Close()
	}
}

func (f *childFiles) close() {
	f.release()
	for i, fd := range f.output {
		if fd != none && (i > 0 || f.typist == nil) {
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

// buffers are what output is read into.
var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// drain passes on the child's output until both pipes are at their end, or until the child has ended and the time to
// drain what others still hold open is over; then it waits for the child. The handle can be read when that has ended.
// Held says that somebody does hold it.
func (f *childFiles) drain(pid, handle int, c *Command) (status syscall.WaitStatus, held bool) {
	f.attended(pid)
	buffer, _ := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	wait := func() syscall.WaitStatus { return await(pid) }
	if handle == none {
		handle, wait = watch(pid)
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
	if f.typist != nil { // there is no stderr
		open--
	}
	for open > 0 && timeout != 0 {
		n, err := unix.Poll(fds, f.attend(timeout))
		if err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
		for i, w := range writers {
			switch {
			case n <= 0 || fds[i].Revents == 0:
				continue
			case fds[i].Revents == unix.POLLHUP: // with nothing left to read
				fds[i].Fd = none
				open--
				continue
			}
			k, err := unix.Read(int(fds[i].Fd), *buffer)
			switch {
			case k > 0 && w != nil:
				_, _ = w.Write((*buffer)[:k])
			case k > 0, errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			default:
				fds[i].Fd = none
				open--
			}
		}
		if n > 0 && end.Fd >= 0 && end.Revents != 0 {
			end.Fd, deadline = none, time.Now().Add(drain)
			f.leave()
		}
		if !deadline.IsZero() {
			timeout = int(max(0, time.Until(deadline).Milliseconds()))
		}
	}
	status = wait()
	if handle != none {
		_ = unix.Close(handle)
	}
	return status, open > 0
}

// attend sees to the child's terminal, if it has one, and says how long may be slept, given how long may be without it.
func (f *childFiles) attend(timeout int) int {
	if f.typist == nil || f.typist.child == none {
		return timeout
	}
	return int(f.typist.attend()/time.Millisecond) + 1
}

// attended notes which process is at the terminal.
func (f *childFiles) attended(pid int) {
	if f.typist != nil {
		f.typist.pid = pid
	}
}

// leave is for the moment at which the child has ended.
func (f *childFiles) leave() {
	if f.typist != nil {
		f.typist.leave()
	}
}

// await waits for the child.
func await(pid int) syscall.WaitStatus {
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); !errors.Is(err, syscall.EINTR) {
			return status
		}
	}
}

// watch has a goroutine wait for the child and then close a pipe, whose other end shows it. Without a pipe the end is
// seen only by waiting.
func watch(pid int) (handle int, wait func() syscall.WaitStatus) {
	states := make(chan syscall.WaitStatus, 1)
	read, write, err := pipe()
	go func() {
		states <- await(pid)
		if err == nil {
			_ = unix.Close(write)
		}
	}()
	if err != nil {
		read = none
	}
	return read, func() syscall.WaitStatus { return <-states }
}
