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

// runDeleteFile deletes a file, or a link as a link. One that is not there is deleted already.
func runDeleteFile(_ context.Context, p *Call, t *Task) *Result {
	in, f := decode[nodetype.DeleteFile](p)
	if f != nil {
		return failed(f, nil)
	}
	if !in.ConfirmDelete {
		return fileFailed(fault.New(fault.Execution, "%s is not deleted: confirm_delete is not true", in.FilePath).
			Suggest(`Set "confirm_delete": true in the node's params, or give true for the workflow's input of that name`), in.FilePath)
	}
	path, f := located(t, "file_path", in.FilePath)
	if f != nil {
		return fileFailed(f, in.FilePath)
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return fileFailed(fault.New(fault.Execution, "Cannot delete %s: it is a folder, and a delete-file node deletes one file", in.FilePath).
			Suggest("Name a file in it; a shell node deletes a folder with all that is in it: rm -r"), in.FilePath)
	case err == nil && namesFolder(in.FilePath):
		err = syscall.ENOTDIR
	case err == nil:
		err = os.Remove(path)
	}
	done := "Successfully deleted '%s'"
	if errors.Is(err, fs.ErrNotExist) {
		done, err = "File '%s' was already gone: there was nothing to delete", nil
	}
	if err != nil {
		return fileFailed(fileFault("delete", in.FilePath, path, err), in.FilePath)
	}
	return completed(nodetype.DeleteFileOutputs{Deleted: fmt.Sprintf(done, in.FilePath), FilePath: in.FilePath})
}
