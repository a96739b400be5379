package process

import (
	"errors"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Process is a running child whose standard input and output are pipes to this program, such as an MCP server.
type Process struct {
	// Stdin and Stdout are this program's ends of the pipes.
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	cmd   *exec.Cmd
	grace time.Duration
	tail  *Tail
	ended chan struct{}
	stop  sync.Once
}

// Start starts the command with pipes on its standard input and output; c.Stdin and c.Stdout are not used. Standard error
// goes to c.Stderr, if that is set, and its end is kept for StderrTail. The standard error of a child with a session of its
// own is discarded.
func Start(c Command) (*Process, error) {
	cmd, err := c.build()
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, grace: c.grace(), tail: NewTail(8 << 10), ended: make(chan struct{})}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, nil, p.tail
	switch {
	case c.Session: // the child outlives this program, whose end of a pipe would be closed
		cmd.Stderr = nil
	case c.Stderr != nil:
		cmd.Stderr = io.MultiWriter(p.tail, c.Stderr)
	}
	cmd.WaitDelay = drainTime
	if p.Stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.Stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	_, err = register(&c, func() (int, error) {
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		return p.Pid(), nil
	})
	if err != nil {
		return nil, c.startFault(err)
	}
	// cmd.Wait is not used: it would close Stdout while it is read.
	go func() {
		_, _ = cmd.Process.Wait()
		if c.Session { // Stop is not called
			unregister(p.Pid())
		}
		close(p.ended)
	}()
	return p, nil
}

// Pid returns the child's process id, which is also its group's id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Ended returns a channel that is closed when the child itself has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

func (p *Process) reaped() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// StderrTail returns the end of what the child has written to standard error, at most 8 KiB.
func (p *Process) StderrTail() string { return p.tail.String() }

// Stop closes the child's standard input and waits for at most patience until the child ends. Then it ends the child's
// group: SIGTERM, the grace, SIGKILL. The group has no member left when Stop returns, except one that waits in the kernel for a file system
// that does not answer. Further calls do nothing.
func (p *Process) Stop(patience time.Duration) {
	p.stop.Do(func() {
		_ = p.Stdin.Close()
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-p.ended:
		case <-timer.C:
		}
		endGroup(p.Pid(), p.grace, p.reaped)
		select {
		case <-p.ended:
		case <-time.After(giveUpAfter): // it waits in the kernel
		}
		unregister(p.Pid())
		_ = p.Stdout.Close()
	})
}

// Release closes the pipes of a child that was started with Command.Session; the child runs on.
func (p *Process) Release() {
	_ = p.Stdin.Close()
	_ = p.Stdout.Close()
}

// Signal sends a signal to a process that is not this program's child. It reports whether the process exists.
func Signal(pid int, sig syscall.Signal) bool {
	return !errors.Is(syscall.Kill(pid, sig), syscall.ESRCH)
}
