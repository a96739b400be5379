package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// CheckInside returns a security_error if a path of the home leads out of the home through symbolic links, also if there is
// no file at their end. The home itself may be a link. The message contains no path.
func (h *Home) CheckInside(elem ...string) error {
	root, err := filepath.EvalSymlinks(h.dir)
	if err != nil { // there is nothing in the home
		return nil
	}
	end, err := follow(h.Path(elem...))
	if err != nil {
		return broken("follow a symbolic link of", err)
	}
	if rel, err := filepath.Rel(root, end); err == nil && filepath.IsLocal(rel) {
		return nil
	}
	return fault.Known(fault.Security, "SecurityError", "%s leads out of the home folder through a symbolic link", filepath.Join(elem...)).
		Suggest("Replace the link by the file itself, or name the file by its path")
}

// follow follows the symbolic links of a path, also those of its folders. What it leads to need not exist.
func follow(path string) (string, error) {
	path, err := target(path)
	if err != nil {
		return "", err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		if folder = filepath.Dir(path); folder == path {
			return path, nil
		}
		folder, err = follow(folder)
	}
	if err != nil {
		return "", err
	}
	end := filepath.Join(folder, filepath.Base(path))
	if info, err := os.Lstat(end); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return follow(end)
	}
	return end, nil
}

// Rel returns the elements of a path below the home's folder, or false for any other path. The path may name the home by a
// link or by what the link leads to.
func (h *Home) Rel(path string) (string, bool) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	roots := []string{h.dir}
	if root, err := filepath.EvalSymlinks(h.dir); err == nil {
		roots = append(roots, root)
	}
	for _, root := range roots {
		if rel, ok := strings.CutPrefix(path, root+string(filepath.Separator)); ok {
			return rel, true
		}
	}
	return "", false
}
