package cli

import (
	"os"
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Suite returns the folder of the running program, with links resolved. The suite's other programs are looked up there
// first.
func (a *App) Suite() (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fault.New(fault.Internal, "Cannot find the path of this program: %v", err)
	}
	return filepath.Dir(self), nil
}
