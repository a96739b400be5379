package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// liveTerminal is the terminal that a run is shown on.
type liveTerminal struct {
	file *os.File
	// queued is the number of bytes of typed lines that no program has read yet.
	queued int
}

// Size returns the columns and rows. A terminal has no rows while another program is in the foreground.
func (t *liveTerminal) Size() (width, height int) {
	fd := int(t.file.Fd())
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && group != unix.Getpgrp() {
		return 80, 0
	}
	size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return 80, 24
	}
	return int(size.Col), int(size.Row)
}

// Typed returns 1 if a line was typed since the last call. Of several it counts one: their text is for whoever reads it, and too many
// lines would erase what is above.
func (t *liveTerminal) Typed() (lines int) {
	queued, err := unix.IoctlGetInt(int(t.file.Fd()), inputQueue)
	if err != nil {
		return 0
	}
	if queued > t.queued {
		lines = 1
	}
	t.queued = queued
	return lines
}
