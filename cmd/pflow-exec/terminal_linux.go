package main

import "golang.org/x/sys/unix"

// inputQueue is the request for the number of bytes that can be read.
const inputQueue = unix.TIOCINQ
