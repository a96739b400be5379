package main

// inputQueue is the request for the number of bytes that can be read: FIONREAD, which golang.org/x/sys/unix does not have.
const inputQueue = 0x4004667f
