package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// runDeleteFile deletes a file; a symbolic link itself, not its target. It succeeds if there is no such file.
func runDeleteFile(_ context.Context, p *Call, t *Task) *Result {
	in, f := decode[nodetype.DeleteFile](p)
	if f != nil {
		return failed(f, nil)
	}
	if !in.ConfirmDelete {
		return failedOnFile(fault.New(fault.Execution, "%s is not deleted: confirm_delete is not true", in.FilePath).
			Suggest(`Set "confirm_delete": true in the node's params, or give the workflow's input confirm_delete as true`), in.FilePath)
	}
	path, f := locateFile(t, "file_path", in.FilePath)
	if f != nil {
		return failedOnFile(f, in.FilePath)
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return failedOnFile(fault.New(fault.Execution, "Cannot delete %s: it is a folder, and a delete-file node deletes only files", in.FilePath).
			Suggest("Name a file in it, or delete the folder in a shell node: rm -r"), in.FilePath)
	case err == nil && isFolderPath(in.FilePath):
		err = syscall.ENOTDIR
	case err == nil:
		err = os.Remove(path)
	}
	done := "Successfully deleted '%s'"
	if errors.Is(err, fs.ErrNotExist) {
		done, err = "File '%s' was already gone: there was nothing to delete", nil
	}
	if err != nil {
		return failedOnFile(fileFault("delete", in.FilePath, path, err), in.FilePath)
	}
	return succeeded(nodetype.DeleteFileOutputs{Deleted: fmt.Sprintf(done, in.FilePath), FilePath: in.FilePath})
}
