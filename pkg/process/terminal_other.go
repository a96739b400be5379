//go:build unix && !linux

package process

import "golang.org/x/sys/unix"

// getSetting is the request that tells how a terminal is set.
const getSetting = unix.TIOCGETA

// busy is not told here.
func busy(int) bool { return false }
