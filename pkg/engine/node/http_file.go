package node

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// outputFile returns the path of the file that a body is written to, with links resolved. It must be a regular file or not
// exist, because it is replaced as a whole. name is the node's name of the file.
func outputFile(t *Task, name string) (string, *fault.Fault) {
	path, f := locateFile(t, "output_file", name)
	switch {
	case f != nil:
		return "", f
	case isFolderPath(name):
		return "", fault.New(fault.Execution, "output_file %s is the path of a folder", name).Suggest("Append the name of a file")
	case isOwnStream(path):
		return "", streamFault("output_file", name)
	}
	if end, err := filepath.EvalSymlinks(path); err == nil {
		path = end
	} else if _, err := os.Readlink(path); err == nil {
		return "", fault.New(fault.Execution, "output_file %s is a link to a file that does not exist", name).Suggest("Remove the link, or give another output_file")
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return "", fault.New(fault.Execution, "output_file %s is not a regular file", name).Suggest("Give the path of a regular file, or of one that does not exist yet")
	}
	return path, nil
}

// save streams the body into the output file, which is replaced in one step.
func (x *exchange) save(ctx context.Context, resp *http.Response) *fault.Fault {
	err := replaceFile(x.target, func(to io.Writer) error { return x.copyBody(to, resp, int64(x.in.MaxSize)) })
	if err == nil {
		x.outputs.FilePath = x.in.OutputFile
		return nil
	}
	return x.saveFault(ctx, resp, err)
}

// saveFault is the fault of a body that could not be received or written.
func (x *exchange) saveFault(ctx context.Context, resp *http.Response, err error) *fault.Fault {
	if failed, ok := errors.AsType[*writeError](err); ok {
		return fileFault("write", x.in.OutputFile, x.target, failed.error)
	}
	return x.bodyFault(ctx, resp, err)
}
