package process

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// waitFor waits until a child has ended, reaps it and returns its status.
func waitFor(pid int) syscall.WaitStatus {
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); !errors.Is(err, syscall.EINTR) {
			return status
		}
	}
}

// watchChild starts a goroutine that waits for a child and then closes the write end of a pipe. It returns the read end,
// which reports the hang-up, and a function that returns the status. The handle is noFD if no pipe can be made.
func watchChild(pid int) (handle int, wait func() syscall.WaitStatus) {
	states := make(chan syscall.WaitStatus, 1)
	read, write, err := newPipe()
	go func() {
		states <- waitFor(pid)
		if err == nil {
			_ = unix.Close(write)
		}
	}()
	if err != nil {
		read = noFD
	}
	return read, func() syscall.WaitStatus { return <-states }
}
