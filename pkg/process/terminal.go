package process

import (
	"bytes"
	"io"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// The size and type of a child's terminal.
const (
	terminalColumns = 80
	terminalLines   = 24
	terminalType    = "xterm-256color"
)

// terminal is a pseudo-terminal. This program reads the child's output from its own side and writes what is typed there. It
// keeps the child's side open, too, as long as the child lives: so it can read the terminal's settings, and no output is
// lost if the child closes its descriptors and opens the terminal again.
type terminal struct {
	ours, child int
	screen      io.Writer // receives the output; nil discards it
	// packets is set in packet mode: each read begins with a byte that reports events of the child's side, see
	// TIOCPKT(2const).
	packets bool
	flushed bool // unread input has been discarded, as programs do before they ask for a password
	shown   bool // there was output since the typist's last step
	open    bool // the output does not end with a newline: it may be a prompt
	held    bool // a carriage return at the end of the output is held back: a newline may follow
}

// openTerminal opens a pseudo-terminal whose output goes to screen. The caller must close it, also after an error.
func openTerminal(screen io.Writer) (*terminal, error) {
	t := &terminal{ours: noFD, child: noFD, screen: screen}
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

// duplicate returns a new descriptor of a file, outside the control of package os.
func duplicate(f *os.File) (fd int, err error) {
	fd = noFD
	raw, err := f.SyscallConn()
	if err != nil {
		return noFD, err
	}
	if failed := raw.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }); failed != nil {
		return noFD, failed
	}
	return fd, err
}

// Write takes the result of one read from this program's side.
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

// show passes output on to the screen with CR LF turned into newlines.
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

// leave closes this program's copy of the child's side. The output ends when no process holds the child's side any more.
func (t *terminal) leave() {
	if t.child != noFD {
		_ = unix.Close(t.child)
		t.child = noFD
	}
}

// close closes both sides. Processes that still use the terminal receive SIGHUP.
func (t *terminal) close() {
	t.leave()
	if t.held && t.screen != nil {
		_, _ = t.screen.Write([]byte{'\r'})
	}
	if t.ours != noFD {
		_ = unix.Close(t.ours)
		t.ours = noFD
	}
}

// ready reports whether one of the events is pending for a descriptor.
func ready(fd int, events int16) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&events != 0
}

// termSettings are the settings of a terminal that matter for typing, see termios(3).
type termSettings struct {
	canonical bool // programs read whole lines, which can be edited, and an end of input
	echo      bool // typed characters are shown
	eof       byte // the character that stands for the end of input; 0 if the terminal has no such character
}

// settings returns the current settings; zero if they cannot be read.
func (t *terminal) settings() termSettings {
	s, err := unix.IoctlGetTermios(t.child, getTermios)
	if err != nil {
		return termSettings{}
	}
	return termSettings{canonical: s.Lflag&unix.ICANON != 0, echo: s.Lflag&unix.ECHO != 0, eof: s.Cc[unix.VEOF]}
}
