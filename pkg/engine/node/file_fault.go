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

// locateFile returns the absolute path of the file that a parameter names.
func locateFile(t *Task, param, path string) (string, *fault.Fault) {
	switch {
	case strings.TrimSpace(path) == "":
		return "", fault.New(fault.Execution, "%s is empty", param).
			Suggest("Give the file's path, or check why the template in %s is empty", param)
	case strings.ContainsRune(path, 0):
		return "", fault.New(fault.Execution, "%s contains a NUL byte, which is not allowed in a file name: %q", param, shorten(path)).
			Suggest("Give a path: the value may be a file's content, or a list separated by NUL bytes")
	}
	return resolvePath(t, path), nil
}

// isFolderPath reports whether a path can only be that of a folder, such as one that ends with a slash.
func isFolderPath(path string) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	return base == "" || base == "." || base == ".."
}

// errFolder is the error of a folder where a file is needed.
var errFolder = errors.New("it is a folder")

// failedOnFile is the failure of a node that works on a file. Its outputs are the path and the error.
func failedOnFile(f *fault.Fault, path string) *Result {
	return failed(f, struct {
		FilePath string `json:"file_path"`
		Error    string `json:"error"`
	}{path, f.Message})
}

// fileFault is the fault of an operation on a file. name is the node's name of the file, path its absolute path.
func fileFault(verb, name, path string, err error) *fault.Fault {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	reason := fault.Reason(err)
	f := fault.New(fault.Execution, "Cannot %s %s: %v", verb, name, reason)
	switch {
	case errors.Is(err, errFolder), errors.Is(err, syscall.EISDIR):
		f.Suggest("Name a file in it, or list it in a shell node: ls")
	case errors.Is(err, fs.ErrNotExist):
		if at, target := danglingLink(path); target != "" {
			f.Message = "Cannot " + verb + " " + name + ": " + filepath.Base(at) + " is a link to " + target + ", which does not exist"
			return f.Suggest("Create the target, or correct the link")
		}
		suggestPath(f, name, path)
		switch {
		case filepath.IsAbs(name) && !isFolder(name[:strings.LastIndexByte(name, '/')+1]) && isFolder(filepath.Dir(name)): // a folder before a ".." is missing
			f.Suggest("Write the path without \"..\": %s", filepath.Clean(name))
		case filepath.IsAbs(name):
			f.Suggest("Check the path and its folders")
		default:
			f.Suggest("Check the path; it is relative to the run's working directory")
		}
	case errors.Is(err, syscall.ENOTDIR):
		f.Suggest("A part of the path is a file, not a folder: correct the path")
	case errors.Is(err, fs.ErrPermission):
		f.Suggest("Check the permissions of the file and of its folder for the user who started the run")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		f.Suggest("Free space on the disk, or write to another disk; an existing file is unchanged").Retryable = true
	case errors.Is(err, syscall.EROFS):
		f.Suggest("Write to a folder on a file system that is not read-only")
	case errors.Is(err, syscall.ENAMETOOLONG):
		f.Suggest("Give a shorter path: a name has at most 255 bytes")
	case errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.EOPNOTSUPP):
		f.Suggest("It is a socket or a missing device: use a shell node with a suitable program")
	case errors.Is(err, syscall.ELOOP):
		f.Suggest("Its symbolic links form a loop: correct them")
	default:
		f.Suggest("Inspect the path in a shell node: ls -l")
	}
	return f
}

// danglingLink returns the last symbolic link on a path whose target does not exist, and that target; empty if there is
// none.
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

// maxNames is the most names of a folder that are compared with a missing one.
const maxNames = 10_000

// suggestPath adds the name that may have been meant for the first missing part of a path.
func suggestPath(f *fault.Fault, name, path string) {
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
	if meant, ok := replaceSegment(name, base, near); ok {
		f.Suggest("Did you mean %s?", meant)
		return
	}
	f.Suggest("Did you mean %s?", filepath.Join(folder, near))
}

// replaceSegment replaces the last segment of a path that equals from; ok is false if no segment does.
func replaceSegment(name, from, to string) (path string, ok bool) {
	parts := strings.Split(name, "/")
	for i, part := range slices.Backward(parts) {
		if part == from {
			parts[i] = to
			return strings.Join(parts, "/"), true
		}
	}
	return "", false
}

// isFolder reports whether a path leads to a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
