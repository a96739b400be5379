package install

import (
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/process"
)

// Executable returns the absolute path under which a client should start the running program. That is the path on PATH, else the one
// it was called by, if it leads to the program: both may be links that an upgrade changes, such as Homebrew's, while the file
// behind them has the version in its path. If neither does, it is the file itself.
//
// called is argument 0 of the process, running is the path of its file.
func Executable(called, running string, env []string) string {
	self := resolved(running)
	for _, name := range []string{filepath.Base(called), called} {
		if path, err := process.LookPath(name, env, ""); err == nil && self != "" && resolved(path) == self {
			return filepath.Clean(path)
		}
	}
	return running
}

// resolved returns a path without symbolic links, or "" if it leads nowhere.
func resolved(path string) string {
	end, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return end
}
