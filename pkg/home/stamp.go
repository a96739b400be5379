package home

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Stamp identifies one state of a file as far as the file system can. Every change of the content, also one that keeps the
// size, changes a time, unless it comes within the same tick of the file system's clock. The stamp of a folder changes with the
// names in it.
type Stamp struct {
	Size              int64
	Modified, Changed int64 // in nanoseconds; no program can set Changed
	Device, Inode     uint64
	Mode              uint32 // the kind of the file and its permissions, as in stat(2)
}

// tick is the coarsest step in which a file system keeps times: two seconds, on FAT.
const tick = 2 * time.Second

// StampOf returns the stamp of an open file.
func StampOf(f *os.File) (Stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return Stamp{}, err
	}
	return stampOf(&st), nil
}

// StampIn returns the stamp of what a path in an open folder names. If that is a symbolic link, it is the stamp of the link, but links
// among the folders of the path are followed.
func StampIn(folder *os.File, path string) (Stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(folder.Fd()), path, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Stamp{}, err
	}
	return stampOf(&st), nil
}

func stampOf(st *unix.Stat_t) Stamp {
	return Stamp{
		Size: st.Size, Modified: st.Mtim.Nano(), Changed: st.Ctim.Nano(), Device: uint64(st.Dev), Inode: st.Ino, Mode: uint32(st.Mode),
	}
}

// Regular reports whether the stamp is that of a regular file.
func (s Stamp) Regular() bool { return s.Mode&unix.S_IFMT == unix.S_IFREG }

// Folder reports whether the stamp is that of a folder.
func (s Stamp) Folder() bool { return s.Mode&unix.S_IFMT == unix.S_IFDIR }

// SettledAt reports whether every change after the given time would show in the stamp.
func (s Stamp) SettledAt(now time.Time) bool {
	return max(s.Modified, s.Changed) < now.Add(-tick).UnixNano()
}
