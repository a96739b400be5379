//go:build unix && !linux

package cputime

import "syscall"

// who is the process.
const who = syscall.RUSAGE_SELF
