package node

import (
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// replaceFile lets fill write beside the file at path, and puts what it wrote in that file's place when it is whole, so that
// no reader sees half of it and a failure leaves what was there. A file that is there keeps its permissions; folders that are
// missing are made. An error of fill is given back as it is, one of the file as a writeError.
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
