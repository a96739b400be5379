package process

import (
	"errors"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Process is a running child that is talked to through its standard input and output, such as an MCP server.
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

// Start starts the command with pipes on its standard input and output; Stdin and Stdout of c are not used. The end of
// what it says on standard error is kept, see StderrTail, besides going to c.Stderr; of a child with a session of its own
// it is discarded.
func Start(c Command) (*Process, error) {
	cmd, err := c.build()
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, grace: c.grace(), tail: NewTail(8 << 10), ended: make(chan struct{})}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, nil, p.tail
	switch {
	case c.Session: // it outlives this program, and so would a pipe
		cmd.Stderr = nil
	case c.Stderr != nil:
		cmd.Stderr = io.MultiWriter(p.tail, c.Stderr)
	}
	cmd.WaitDelay = drain
	if p.Stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.Stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	_, err = started(&c, func() (int, error) {
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		return p.Pid(), nil
	})
	if err != nil {
		return nil, c.startFault(err)
	}
	// The child is waited for apart from cmd.Wait, which would close Stdout under its reader.
	go func() {
		_, _ = cmd.Process.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Pid is the child's process id, which is also its group's.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Ended is closed when the child itself has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

func (p *Process) waited() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// StderrTail is the end of what the child said on standard error.
func (p *Process) StderrTail() string { return p.tail.String() }

// Stop closes the child's standard input and waits patience for it to end by itself; then it takes the whole group
// down by the ladder. Nothing of the group is left when it returns. It may be called more than once.
func (p *Process) Stop(patience time.Duration) {
	p.stop.Do(func() {
		_ = p.Stdin.Close()
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-p.ended:
		case <-timer.C:
		}
		endGroup(p.Pid(), p.grace, p.waited)
		<-p.ended
		done(p.Pid())
		_ = p.Stdout.Close()
	})
}

// Release lets go of a child that was started in a session of its own: its pipes are closed and it runs on.
func (p *Process) Release() {
	_ = p.Stdin.Close()
	_ = p.Stdout.Close()
}

// Signal sends a signal to a process that is not this program's child. It is false when there is no such process.
func Signal(pid int, sig syscall.Signal) bool {
	return !errors.Is(syscall.Kill(pid, sig), syscall.ESRCH)
}
