package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// located is where the file is that a parameter names (see under).
func located(t *Task, param, path string) (string, *fault.Fault) {
	switch {
	case strings.TrimSpace(path) == "":
		return "", fault.New(fault.Execution, "%s is empty: it names no file", param).
			Suggest("Give the file's path, or see why the template in %s gave nothing", param)
	case strings.ContainsRune(path, 0):
		return "", fault.New(fault.Execution, "%s has a NUL byte in it, which no file name can have: %q", param, excerpt(path)).
			Suggest("Take the path from a text: the value may be the content of a file, or a list that NUL bytes separate")
	}
	return under(t, path), nil
}

// namesFolder says whether a path can be that of a folder alone.
func namesFolder(path string) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	return base == "" || base == "." || base == ".."
}

// errFolder is the error of a folder where a file is needed.
var errFolder = errors.New("it is a folder")

// fileFailed is the failure of a node that works on a file: it leaves behind which one, and why.
func fileFailed(f *fault.Fault, path string) *Result {
	return failed(f, struct {
		FilePath string `json:"file_path"`
		Error    string `json:"error"`
	}{path, f.Message})
}

// fileFault says what is wrong with a file in the words in which the node named it; path is where that is.
func fileFault(verb, name, path string, err error) *fault.Fault {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	reason := fault.Reason(err)
	f := fault.New(fault.Execution, "Cannot %s %s: %v", verb, name, reason)
	switch {
	case errors.Is(err, errFolder), errors.Is(err, syscall.EISDIR):
		f.Suggest("Name a file in it, or list it with a shell node: ls")
	case errors.Is(err, fs.ErrNotExist):
		if at, target := danglingLink(path); target != "" {
			f.Message = "Cannot " + verb + " " + name + ": " + filepath.Base(at) + " is a link to " + target + ", which does not exist"
			return f.Suggest("Make what the link leads to, or correct the link")
		}
		nearestPath(f, name, path)
		f.Suggest("Check the path: it is relative to the run's working directory, which -C DIR sets")
	case errors.Is(err, syscall.ENOTDIR):
		f.Suggest("A part of the path is a file and no folder: correct the path")
	case errors.Is(err, fs.ErrPermission):
		f.Suggest("Check the permissions of the file and of its folder: the run has the rights of the user who started it")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		f.Suggest("Make room on the disk, or write to another; what was there is unchanged").Retryable = true
	case errors.Is(err, syscall.EROFS):
		f.Suggest("Write to a folder on a file system that is not read-only")
	case errors.Is(err, syscall.ENAMETOOLONG):
		f.Suggest("Give a shorter path: a name has at most 255 bytes")
	case errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.EOPNOTSUPP):
		f.Suggest("It is a socket, or a device that is not there: a shell node with the right program can talk to it")
	case errors.Is(err, syscall.ELOOP):
		f.Suggest("Its links lead round in a circle: correct them")
	default:
		f.Suggest("See what the path leads to with a shell node: ls -l")
	}
	return f
}

// danglingLink is the first link on a path that leads nowhere, with what it should lead to.
func danglingLink(path string) (at, target string) {
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) {
				target, _ := os.Readlink(at)
				return at, target
			}
		}
		if at == filepath.Dir(at) {
			return "", ""
		}
	}
}

// maxNames is how many names of a folder are looked at for one that may have been meant.
const maxNames = 10_000

// nearestPath says which part of a path is not there, and what may have been meant.
func nearestPath(f *fault.Fault, name, path string) {
	missing := filepath.Clean(path)
	for {
		if _, err := os.Lstat(filepath.Dir(missing)); err == nil || missing == filepath.Dir(missing) {
			break
		}
		missing = filepath.Dir(missing)
	}
	folder, base := filepath.Split(missing)
	d, err := os.Open(folder)
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(maxNames)
	_ = d.Close()
	near, ok := fault.Nearest(base, names)
	if !ok {
		return
	}
	if meant, ok := swapped(name, base, near); ok {
		f.Suggest("Did you mean %s?", meant)
		return
	}
	f.Suggest("Did you mean %s?", filepath.Join(folder, near))
}

// swapped is a path as it was named with the last part of one name replaced by another.
func swapped(name, from, to string) (string, bool) {
	parts := strings.Split(name, "/")
	for i, part := range slices.Backward(parts) {
		if part == from {
			parts[i] = to
			return strings.Join(parts, "/"), true
		}
	}
	return "", false
}
