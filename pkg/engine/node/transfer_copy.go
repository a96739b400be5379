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

// copy writes a whole copy beside the destination and then renames it.
func (tr *transfer) copy() error {
	beside, err := tr.copyBeside()
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(beside) }() // after a success it has been renamed
	if tr.overwrite {
		return os.Rename(beside, tr.to)
	}
	return tr.renameWithoutOverwrite(beside)
}

// move renames the file, or copies and deletes it if the destination is on another file system.
func (tr *transfer) move() error {
	var err error
	if tr.overwrite {
		err = os.Rename(tr.from, tr.to)
	} else {
		err = tr.renameWithoutOverwrite(tr.from)
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

// deleteSource completes a move to another file system. A failure loses nothing: both files remain, or only the source.
func (tr *transfer) deleteSource() error {
	now, err := os.Lstat(tr.from)
	switch {
	case err == nil && (now.Size() != tr.info.Size() || !now.ModTime().Equal(tr.info.ModTime())):
		err = errors.New("it changed while it was copied")
	case err == nil:
		err = os.Remove(tr.from)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !tr.overwrite && os.Remove(tr.to) == nil {
		return fault.New(fault.Execution, "Cannot move %s to %s: the source cannot be deleted: %v", tr.source, tr.dest, fault.Reason(err)).
			Suggest("Check the permissions of the source's folder, or use a copy-file node; nothing has changed")
	}
	return fault.New(fault.Execution, "%s was copied to %s, but the source cannot be deleted: %v", tr.source, tr.dest, fault.Reason(err)).
		Suggest("Delete the source, or check the permissions of its folder")
}

// renameWithoutOverwrite renames a file to the destination unless that exists.
func (tr *transfer) renameWithoutOverwrite(path string) error {
	err := renameNew(path, tr.to)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = tr.reserveAndRename(path)
	}
	if errors.Is(err, fs.ErrExist) {
		return tr.existsFault()
	}
	return err
}

// reserveAndRename creates an empty file at the destination, so that no other process takes the name, and then renames over
// it. It is for file systems that cannot rename without overwriting.
func (tr *transfer) reserveAndRename(path string) error {
	f, err := os.OpenFile(tr.to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Close(), os.Rename(path, tr.to)); err != nil {
		_ = os.Remove(tr.to)
	}
	return err
}

// copyChunk is how many bytes are copied between two checks of the context.
const copyChunk = 8 << 20

// copyBeside copies the source to a temporary file in the destination's folder, with its permissions and modification time,
// synced to disk. It returns the path.
func (tr *transfer) copyBeside() (beside string, err error) {
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
		n, err := io.CopyN(to, from, copyChunk) // the kernel copies where it can
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

// copyLink creates a symbolic link like the source.
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
		return tr.existsFault()
	}
	return err
}
