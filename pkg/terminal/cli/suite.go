package cli

import (
	"os"
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Suite is the folder of the running program, links resolved, in which the other programs of the suite are looked for
// first.
func (a *App) Suite() (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fault.New(fault.Internal, "where this program is cannot be told: %v", err)
	}
	return filepath.Dir(self), nil
}
