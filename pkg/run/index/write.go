package index

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/home"
)

// Append adds the line of one run that has ended. After an error the index does not have it, and the next list adds it.
func Append(h *home.Home, f *Facts) error {
	return locked(h, os.O_CREATE, func(file *os.File, _ os.FileInfo) error { return write(file, f.encode()) })
}

// Update adds the lines of runs that have ended, except those that another process has added since the index was read. If most of
// the index does not count, or always is set, it writes the index again without that: lines of runs that do not exist, damaged
// ones, and those that were written twice. A home that cannot be written does without.
func (x *Index) Update(added []*Facts, exists func(run string) bool, always bool) error {
	always = always || x.wasteful()
	if len(added) == 0 && !always {
		return nil
	}
	return locked(x.home, os.O_CREATE, func(file *os.File, info os.FileInfo) error {
		if always {
			x.file = nil // it is read whole: a file that came after the one that was read may have that one's number
		}
		x.readOn(file, info)
		var lines strings.Builder
		for _, f := range added {
			if known := x.Get(f.Run); known == nil || known.Size != f.Size {
				lines.WriteString(f.encode())
			}
		}
		x.add(lines.String())
		if always || x.unusable {
			return x.replace(exists)
		}
		return write(file, lines.String())
	})
}

// slack is how many bytes of an index need not count.
const slack = 64 << 10

// wasteful reports whether most of the file does not count.
func (x *Index) wasteful() bool {
	if x.file == nil || x.unusable {
		return x.unusable
	}
	live, lines := int64(0), max(1, len(x.lines))
	for _, line := range x.lines {
		live += int64(len(line))
	}
	live = live / int64(lines) * int64(min(lines, x.runs)) // without the lines of runs that do not exist any more
	return x.file.Size() > 2*live+slack
}

// replace puts a new file in place of the one that this process has locked.
func (x *Index) replace(exists func(run string) bool) error {
	var text strings.Builder
	for _, run := range slices.Sorted(maps.Keys(x.lines)) {
		if exists(run) {
			text.WriteString(x.lines[run])
		}
	}
	path := x.home.Path(folder, newName)
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		_ = os.Remove(path)
		return err
	}
	return os.Rename(path, x.home.Path(folder, name))
}

// write appends lines to the file, which is locked. A line that a killed process has not finished stays alone.
func write(file *os.File, lines string) error {
	if lines == "" {
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var last [1]byte
	if n, _ := file.ReadAt(last[:], info.Size()-1); n == 1 && last[0] != '\n' {
		lines = "\n" + lines
	}
	_, err = file.WriteString(lines)
	return err
}

// patience is how long a process waits for others that write the index. Each of them takes a moment. One that was stopped delays
// the end of no run: the next list adds the line.
const patience = 100 * time.Millisecond

var errBusy = errors.New("other processes are writing the index")

// locked opens the index and calls f while no other process writes it.
func locked(h *home.Home, flags int, f func(file *os.File, info os.FileInfo) error) error {
	for deadline := time.Now().Add(patience); ; {
		file, err := open(h, os.O_RDWR|os.O_APPEND|flags)
		if err != nil {
			return err
		}
		replaced, err := lockedFile(h, file, deadline, f)
		_ = file.Close()
		switch {
		case !replaced:
			return err
		case time.Now().After(deadline):
			return errors.Join(errBusy, err)
		}
	}
}

// lockedFile locks an open index and calls f. replaced is set if the file was replaced before it was locked.
func lockedFile(h *home.Home, file *os.File, deadline time.Time, f func(file *os.File, info os.FileInfo) error) (replaced bool, err error) {
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(deadline) {
			return false, err
		}
		time.Sleep(time.Millisecond)
	}
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	if now, err := os.Lstat(h.Path(folder, name)); err != nil || !os.SameFile(info, now) {
		return true, err
	}
	return false, f(file, info)
}
