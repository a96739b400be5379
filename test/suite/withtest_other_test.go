//go:build !linux

package suite

import "os/exec"

// withTest returns the command. Only Linux has a process end with another one.
func withTest(cmd *exec.Cmd) *exec.Cmd { return cmd }
