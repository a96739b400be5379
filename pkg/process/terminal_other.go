//go:build unix && !linux

package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// getTermios is the ioctl request that reads the settings of a terminal.
const getTermios = unix.TIOCGETA

// busy returns false: it is known on Linux only.
func busy(int) (time.Duration, bool) { return 0, false }
