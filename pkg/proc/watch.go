package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// watchByWaiting has a goroutine wait for the process and then close a pipe, whose other end shows it. Without a pipe
// the end is seen only by waiting.
func watchByWaiting(p *os.Process, pipe func() (int, int, error)) (fd int, wait func() *os.ProcessState) {
	states := make(chan *os.ProcessState, 1)
	read, write, err := pipe()
	go func() {
		state, _ := p.Wait()
		states <- state
		if err == nil {
			_ = unix.Close(write)
		}
	}()
	if err != nil {
		read = -1
	}
	return read, func() *os.ProcessState {
		state := <-states
		if err == nil {
			_ = unix.Close(read)
		}
		return state
	}
}
