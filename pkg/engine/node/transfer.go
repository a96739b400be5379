package node

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// runCopyFile copies a file with its permissions and its modification time.
func runCopyFile(ctx context.Context, p *Call, t *Task) *Result {
	in, f := decode[nodetype.CopyFile](p)
	if f != nil {
		return failed(f, nil)
	}
	tr := &transfer{ctx: ctx, task: t, verb: "copy", source: in.SourcePath, dest: in.DestPath, overwrite: in.Overwrite}
	if f := tr.run(tr.copy); f != nil {
		return failedOnFile(f, tr.dest)
	}
	return succeeded(nodetype.CopyFileOutputs{
		Copied: fmt.Sprintf("Successfully copied '%s' to '%s'", in.SourcePath, tr.dest), FilePath: tr.dest,
	})
}

// runMoveFile moves a file; a symbolic link itself, not its target.
func runMoveFile(ctx context.Context, p *Call, t *Task) *Result {
	in, f := decode[nodetype.MoveFile](p)
	if f != nil {
		return failed(f, nil)
	}
	tr := &transfer{ctx: ctx, task: t, verb: "move", source: in.SourcePath, dest: in.DestPath, overwrite: in.Overwrite, links: true}
	if f := tr.run(tr.move); f != nil {
		return failedOnFile(f, tr.dest)
	}
	return succeeded(nodetype.MoveFileOutputs{
		Moved: fmt.Sprintf("Successfully moved '%s' to '%s'", in.SourcePath, tr.dest), FilePath: tr.dest,
	})
}

// transfer copies or moves a file.
type transfer struct {
	ctx  context.Context
	task *Task
	verb string
	// source and dest are the node's names of the paths, from and to the absolute paths.
	source, dest string
	from, to     string
	overwrite    bool
	// links is set if a symbolic link is taken itself, not its target.
	links bool
	// info describes the source.
	info fs.FileInfo
}

// run checks both paths, creates the folder of the destination and calls do.
func (tr *transfer) run(do func() error) *fault.Fault {
	if f := tr.locate(); f != nil {
		return f
	}
	if err := os.MkdirAll(filepath.Dir(tr.to), 0o777); err != nil { //nolint:gosec // the user's own file, under the user's umask
		return fileFault("create the folder of", tr.dest, tr.to, err)
	}
	if err := do(); err != nil {
		if tr.ctx.Err() != nil {
			err = context.Cause(tr.ctx)
		}
		return fileFault(tr.verb+" "+tr.source+" to", tr.dest, tr.to, err)
	}
	return nil
}

// locate finds the source and the destination, and refuses what cannot be transferred.
func (tr *transfer) locate() (f *fault.Fault) {
	if tr.from, f = locateFile(tr.task, "source_path", tr.source); f != nil {
		return f
	}
	if tr.to, f = locateFile(tr.task, "dest_path", tr.dest); f != nil {
		return f
	}
	var err error
	if tr.info, err = tr.stat(tr.from); err != nil {
		return fileFault(tr.verb, tr.source, tr.from, err)
	}
	switch mode := tr.info.Mode(); {
	case mode.IsDir():
		word := map[string]string{"copy": "cp -r", "move": "mv"}[tr.verb]
		return fault.New(fault.Execution, "Cannot %s %s: it is a folder, and a %s-file node takes only files", tr.verb, tr.source, tr.verb).
			Suggest("Name a file in it, or use a shell node: %s", word)
	case isFolderPath(tr.source):
		return fileFault(tr.verb, tr.source, tr.from, syscall.ENOTDIR)
	case !mode.IsRegular() && mode&fs.ModeSymlink == 0:
		return fault.New(fault.Execution, "Cannot %s %s: it is a pipe, a socket or a device, not a regular file", tr.verb, tr.source).
			Suggest("Use a shell node with a suitable program")
	}
	if info, err := os.Stat(tr.to); isFolderPath(tr.dest) || err == nil && info.IsDir() {
		tr.dest, tr.to = filepath.Join(tr.dest, filepath.Base(tr.from)), filepath.Join(tr.to, filepath.Base(tr.from))
	}
	return tr.checkDestination()
}

func (tr *transfer) stat(path string) (fs.FileInfo, error) {
	if tr.links {
		return os.Lstat(path)
	}
	return os.Stat(path)
}

// checkDestination refuses a destination that must not be replaced. A destination that does not exist now may still appear
// before the transfer.
func (tr *transfer) checkDestination() *fault.Fault {
	if isOwnStream(tr.to) {
		return streamFault("dest_path", tr.dest)
	}
	if there, err := tr.stat(tr.to); err == nil && os.SameFile(tr.info, there) {
		return fault.New(fault.Execution, "Cannot %s %s to %s: they are the same file", tr.verb, tr.source, tr.dest).
			Suggest("Give another dest_path")
	}
	there, err := os.Lstat(tr.to)
	switch {
	case err != nil:
		return nil
	case !tr.overwrite:
		return tr.existsFault()
	case there.IsDir():
		return fault.New(fault.Execution, "Cannot %s %s to %s: a folder of that name exists", tr.verb, tr.source, tr.dest).
			Suggest("Give another dest_path")
	case !there.Mode().IsRegular() && there.Mode()&fs.ModeSymlink == 0:
		return fault.New(fault.Execution, "Cannot %s %s to %s: the destination is a pipe, a socket or a device, not a regular file", tr.verb, tr.source, tr.dest).
			Suggest("Write to it with a write-file or a shell node")
	}
	if target, err := filepath.EvalSymlinks(tr.to); err == nil && !tr.links { // a copy replaces the target of a link, as with cp
		tr.to = target
		if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
			return fault.New(fault.Execution, "Cannot copy %s to %s: the link does not lead to a regular file", tr.source, tr.dest).
				Suggest("Give another dest_path")
		}
	}
	return nil
}

// existsFault is the fault of a destination that already exists.
func (tr *transfer) existsFault() *fault.Fault {
	return fault.New(fault.Execution, "Error: Destination file '%s' already exists. Set \"overwrite\": true to replace it.", tr.dest).
		Suggest(`Set "overwrite": true, or give another dest_path`)
}
