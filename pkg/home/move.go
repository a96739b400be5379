package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Move gives a file or a folder of the home, at path elem, another name in the same folder, in one step. It moves a symbolic link itself. If
// something has the name, the error is an [fs.ErrExist] and nothing changes. On file systems that cannot refuse to replace, nothing else may
// change the folder meanwhile.
func (h *Home) Move(name string, elem ...string) error {
	from := h.Path(elem...)
	to := filepath.Join(filepath.Dir(from), name)
	err := moveToFree(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}
