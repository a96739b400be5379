package node

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames a file unless the new name exists; the error is then fs.ErrExist.
func renameNew(from, to string) error {
	if err := unix.RenamexNp(from, to, unix.RENAME_EXCL); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
