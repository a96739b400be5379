package node

import (
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// replaceFile replaces the file at path in one step with what fill writes. Readers never see a part of it, and a failure
// leaves the old file. An existing file keeps its permissions; missing folders are created. It returns an error of fill
// unchanged, an error of the file as a writeError.
func replaceFile(path string, fill func(io.Writer) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil { //nolint:gosec // the user's own file, under the user's umask
		return &writeError{err}
	}
	to, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithPermissions(0o666), renameio.WithExistingPermissions())
	if err != nil {
		return &writeError{err}
	}
	defer func() { _ = to.Cleanup() }()
	if err := fill(to.File); err != nil {
		return err
	}
	if err := to.CloseAtomicallyReplace(); err != nil {
		return &writeError{err}
	}
	return nil
}
