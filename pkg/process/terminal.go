package process

import (
	"bytes"
	"io"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// The terminal of a child that asks for one.
const (
	terminalColumns = 80
	terminalLines   = 24
	terminalType    = "xterm-256color"
)

// terminal is a pseudo-terminal: what the child shows is read from this program's side of it, and what is typed is written
// there. The child's side is held open as long as the child lives, so that it can be asked how the terminal is set, and a
// child that closes its own and opens it again loses nothing.
type terminal struct {
	ours, child int
	screen      io.Writer // what the child shows; nil discards it
	// packets says that each read begins with a byte that tells what happened on the child's side.
	packets bool
	flushed bool // what was typed and not read yet has been thrown away
	shown   bool // there was output
	open    bool // the last line of output has no end: it may be a prompt
	held    bool // a carriage return came last, which a newline may follow
}

func openTerminal(screen io.Writer) (*terminal, error) {
	t := &terminal{ours: none, child: none, screen: screen}
	ours, child, err := pty.Open()
	if err != nil {
		return t, err
	}
	defer func() { _, _ = ours.Close(), child.Close() }()
	if err = pty.Setsize(ours, &pty.Winsize{Rows: terminalLines, Cols: terminalColumns}); err != nil {
		return t, err
	}
	if t.ours, err = duplicate(ours); err != nil {
		return t, err
	}
	if t.child, err = duplicate(child); err != nil {
		return t, err
	}
	t.packets = unix.IoctlSetPointerInt(t.ours, unix.TIOCPKT, 1) == nil
	if err = unix.SetNonblock(t.ours, true); err != nil {
		return t, err
	}
	return t, unix.SetNonblock(t.child, false)
}

// duplicate gives a descriptor of a file that is this program's to wait at and to close.
func duplicate(f *os.File) (fd int, err error) {
	fd = none
	raw, err := f.SyscallConn()
	if err != nil {
		return none, err
	}
	if failed := raw.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }); failed != nil {
		return none, failed
	}
	return fd, err
}

// Write takes what one read gave.
func (t *terminal) Write(p []byte) (int, error) {
	n := len(p)
	if t.packets && n > 0 {
		t.flushed = t.flushed || p[0] != 0 && p[0]&unix.TIOCPKT_FLUSHREAD != 0
		p = p[1:]
	}
	if len(p) > 0 {
		t.shown, t.open = true, p[len(p)-1] != '\n'
		t.show(p)
	}
	return n, nil
}

// show passes output on with its line ends as text has them.
func (t *terminal) show(p []byte) {
	if t.screen == nil {
		return
	}
	if t.held && p[0] != '\n' {
		_, _ = t.screen.Write([]byte{'\r'})
	}
	if t.held = p[len(p)-1] == '\r'; t.held {
		p = p[:len(p)-1]
	}
	if text := bytes.ReplaceAll(p, []byte("\r\n"), []byte("\n")); len(text) > 0 {
		_, _ = t.screen.Write(text)
	}
}

// leave closes the child's side here: when nobody else holds it, there will be no more output.
func (t *terminal) leave() {
	if t.child != none {
		_ = unix.Close(t.child)
		t.child = none
	}
}

// close closes both sides, which tells those that are left at the terminal to hang up.
func (t *terminal) close() {
	t.leave()
	if t.held && t.screen != nil {
		_, _ = t.screen.Write([]byte{'\r'})
	}
	if t.ours != none {
		_ = unix.Close(t.ours)
		t.ours = none
	}
}

// ready says whether a descriptor has one of the events now.
func ready(fd int, events int16) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&events != 0
}

// setting is how a terminal is set.
type setting struct {
	lines bool // it gives whole lines to read, which can be edited, and an end
	echo  bool // it shows what is typed
	end   byte // what is typed for the end of input, 0 if nothing is
}

func (t *terminal) setting() setting {
	s, err := unix.IoctlGetTermios(t.child, getSetting)
	if err != nil {
		return setting{}
	}
	return setting{lines: s.Lflag&unix.ICANON != 0, echo: s.Lflag&unix.ECHO != 0, end: s.Cc[unix.VEOF]}
}
