package node

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// copy makes a whole copy beside the destination and then gives it its name.
func (tr *transfer) copy() error {
	beside, err := tr.write()
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(beside) }() // the name is gone when all went well
	if tr.overwrite {
		return os.Rename(beside, tr.to)
	}
	return tr.place(beside)
}

// move renames, and where another file system is in between copies and then deletes.
func (tr *transfer) move() error {
	var err error
	if tr.overwrite {
		err = os.Rename(tr.from, tr.to)
	} else {
		err = tr.place(tr.from)
	}
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	if tr.info.Mode()&fs.ModeSymlink != 0 {
		err = tr.copyLink()
	} else {
		err = tr.copy()
	}
	if err != nil {
		return err
	}
	return tr.deleteSource()
}

// deleteSource ends a move to another file system. Where that fails nothing is lost: there are two files, or one as before.
func (tr *transfer) deleteSource() error {
	now, err := os.Lstat(tr.from)
	switch {
	case err == nil && (now.Size() != tr.info.Size() || !now.ModTime().Equal(tr.info.ModTime())):
		err = errors.New("it was changed while it was copied")
	case err == nil:
		err = os.Remove(tr.from)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !tr.overwrite && os.Remove(tr.to) == nil {
		return fault.New(fault.Execution, "Cannot move %s to %s: the source cannot be deleted: %v", tr.source, tr.dest, fault.Reason(err)).
			Suggest("Check the permissions of the source's folder, or use a copy-file node; nothing was changed")
	}
	return fault.New(fault.Execution, "%s was copied to %s, but it cannot be deleted: %v", tr.source, tr.dest, fault.Reason(err)).
		Suggest("Delete the source yourself, or check the permissions of its folder")
}

// place gives a file the destination's name, if nothing has that.
func (tr *transfer) place(path string) error {
	err := renameNew(path, tr.to)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = tr.reserve(path)
	}
	if errors.Is(err, fs.ErrExist) {
		return tr.exists()
	}
	return err
}

// reserve takes the destination's name with an empty file, so that no other takes it, and then renames over that. It is
// for file systems that have no better way.
func (tr *transfer) reserve(path string) error {
	f, err := os.OpenFile(tr.to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Close(), os.Rename(path, tr.to)); err != nil {
		_ = os.Remove(tr.to)
	}
	return err
}

// portion is how much is copied until it is asked again whether the node is to go on.
const portion = 8 << 20

// write makes a copy of the source beside the destination: its content, permissions and time are on the disk.
func (tr *transfer) write() (beside string, err error) {
	from, err := os.Open(tr.from)
	if err != nil {
		return "", fileFault(tr.verb, tr.source, tr.from, err)
	}
	defer func() { _ = from.Close() }()
	to, err := os.CreateTemp(filepath.Dir(tr.to), ".pflow-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, to.Close()); err == nil { // after the last write
			err = os.Chtimes(to.Name(), tr.info.ModTime(), tr.info.ModTime())
		}
		if err != nil {
			_ = os.Remove(to.Name())
		}
	}()
	total := float64(tr.info.Size())
	for done := int64(0); ; {
		if err := tr.ctx.Err(); err != nil {
			return "", err
		}
		n, err := io.CopyN(to, from, portion) // the kernel copies where it can
		done += n
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		if tr.task.Progress != nil {
			tr.task.Progress(float64(done), total, "")
		}
	}
	return to.Name(), errors.Join(to.Chmod(tr.info.Mode().Perm()), to.Sync())
}

// copyLink makes a link like the source.
func (tr *transfer) copyLink() error {
	target, err := os.Readlink(tr.from)
	if err != nil {
		return err
	}
	if tr.overwrite {
		if err := os.Remove(tr.to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err = os.Symlink(target, tr.to); errors.Is(err, fs.ErrExist) {
		return tr.exists()
	}
	return err
}
