package suite

import (
	"os/exec"
	"syscall"
)

// withTest has a command that is not started yet end in order when the process of the tests ends, whatever ends that. It returns the command.
//
// The signal comes when the thread that starts the command ends. Go ends a thread only when a goroutine that is locked to it returns, and no
// test has such a goroutine.
func withTest(cmd *exec.Cmd) *exec.Cmd {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	return cmd
}
