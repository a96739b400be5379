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

// target is the file that a body goes to: where a link points, and nothing but a regular file, for it is replaced as a
// whole. name is what the node calls it.
func target(t *Task, name string) (string, *fault.Fault) {
	path, f := located(t, "output_file", name)
	switch {
	case f != nil:
		return "", f
	case namesFolder(name):
		return "", fault.New(fault.Execution, "output_file %s is the path of a folder", name).Suggest("Put a name behind it: the body needs a file of its own")
	case ownStream(path):
		return "", streamFault("output_file", name)
	}
	if end, err := filepath.EvalSymlinks(path); err == nil {
		path = end
	} else if _, err := os.Readlink(path); err == nil {
		return "", fault.New(fault.Execution, "output_file %s is a link to what is not there", name).Suggest("Remove the link, or give another output_file")
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return "", fault.New(fault.Execution, "output_file %s is a folder, or no regular file", name).Suggest("Give the path of a file, which may exist already")
	}
	return path, nil
}

// save streams the body into the file, which is there whole or not at all.
func (x *exchange) save(ctx context.Context, resp *http.Response) *fault.Fault {
	err := replaceFile(x.target, func(to io.Writer) error { return x.copyBody(to, resp, int64(x.in.MaxSize)) })
	if err == nil {
		x.answer.FilePath = x.in.OutputFile
		return nil
	}
	return x.unsaved(ctx, resp, err)
}

// unsaved is the fault of a body that did not come into its file, through its own fault or the file's.
func (x *exchange) unsaved(ctx context.Context, resp *http.Response, err error) *fault.Fault {
	if failed, ok := errors.AsType[*writeError](err); ok {
		return fileFault("write", x.in.OutputFile, x.target, failed.error)
	}
	return x.incomplete(ctx, resp, err)
}
