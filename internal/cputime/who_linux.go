package cputime

import "syscall"

// who is the thread.
const who = syscall.RUSAGE_THREAD
