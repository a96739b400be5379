package home

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Folders that are not in place: those that are being written, and those that are being removed.
const (
	unfinished = ".new-"
	discarded  = ".gone-"
)

// PutFolder puts a folder with the given files, by their relative paths, into the home in one step. A folder that is already there is
// replaced: in one step where the system can exchange two folders, else it is missing for a moment. Nothing else may change the folder
// above meanwhile.
func (h *Home) PutFolder(files map[string][]byte, elem ...string) error {
	target := h.Path(elem...)
	above := filepath.Dir(target)
	if err := os.MkdirAll(above, 0o700); err != nil {
		return broken("create a folder in", err)
	}
	removeLeftovers(above)
	next, err := os.MkdirTemp(above, unfinished)
	if err != nil {
		return broken("create a folder in", err)
	}
	defer func() { _ = os.RemoveAll(next) }() // after an exchange, the old one
	if err := fill(next, files); err != nil {
		return broken("write a folder of", err)
	}
	if _, err = os.Lstat(target); err == nil && exchange(next, target) == nil {
		return syncFolder(above)
	}
	if err == nil {
		if err := os.Rename(target, next+discarded); err != nil {
			return broken("replace a folder of", err)
		}
		defer func() { _ = os.RemoveAll(next + discarded) }()
	}
	if err := os.Rename(next, target); err != nil {
		return broken("write a folder of", err)
	}
	return syncFolder(above)
}

// RemoveFolder removes a folder of the home with everything in it. It disappears in one step. Of a symbolic link only the link is
// removed.
func (h *Home) RemoveFolder(elem ...string) error {
	target := h.Path(elem...)
	if info, err := os.Lstat(target); err == nil && !info.IsDir() {
		return os.Remove(target)
	}
	removeLeftovers(filepath.Dir(target))
	gone, err := os.MkdirTemp(filepath.Dir(target), discarded)
	if err != nil {
		return err
	}
	if err := os.Rename(target, filepath.Join(gone, "folder")); err != nil {
		_ = os.Remove(gone)
		return err
	}
	return os.RemoveAll(gone)
}

// isLeftover reports whether PutFolder or RemoveFolder makes folders of that name.
func isLeftover(name string) bool {
	number, ok := strings.CutPrefix(strings.TrimSuffix(name, discarded), unfinished)
	if !ok {
		number, ok = strings.CutPrefix(name, discarded)
	}
	_, err := strconv.ParseUint(number, 10, 64)
	return ok && err == nil
}

// removeLeftovers removes what killed programs have left of folders that were not in place.
func removeLeftovers(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if e.IsDir() && isLeftover(e.Name()) {
			_ = os.RemoveAll(filepath.Join(folder, e.Name()))
		}
	}
}

// fill writes files below a folder and through to the disk.
func fill(folder string, files map[string][]byte) error {
	folders := map[string]bool{folder: true}
	for name, content := range files {
		path := filepath.Join(folder, name)
		for dir := filepath.Dir(path); !folders[dir]; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		if err == nil {
			err = f.Sync()
		}
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	for dir := range folders {
		if err := syncFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

// syncFolder makes the names in a folder reach the disk.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return f.Sync()
}
