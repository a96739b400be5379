package process

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// LookPath returns the absolute path of a program. A name with a slash is a path, relative to dir; any other is looked up in
// the absolute folders of the PATH of env. The fault is "Command not found: NAME".
func LookPath(name string, env []string, dir string) (string, error) {
	if strings.ContainsRune(name, '/') {
		path := name
		if !filepath.IsAbs(path) && dir != "" {
			path = filepath.Join(dir, path)
		}
		if !filepath.IsAbs(path) {
			abs, err := filepath.Abs(path)
			if err != nil {
				return "", notFound(name)
			}
			path = abs
		}
		return path, nil
	}
	for _, d := range filepath.SplitList(Getenv(env, "PATH")) {
		if path := filepath.Join(d, name); filepath.IsAbs(path) && Executable(path) {
			return path, nil
		}
	}
	return "", notFound(name)
}

func notFound(name string) *fault.Fault {
	return fault.New(fault.NotFound, "Command not found: %s", name).
		Suggest("Install %s, or give its full path", name)
}

// Executable reports whether a path is a regular file with an execute permission.
func Executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
