package node

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// runReadFile reads a whole file.
func runReadFile(ctx context.Context, p *Call, t *Task) *Result {
	in, f := decode[nodetype.ReadFile](p)
	if f != nil {
		return failed(f, nil)
	}
	path, f := locateFile(t, "file_path", in.FilePath)
	if f != nil {
		return failedOnFile(f, in.FilePath)
	}
	form, f := encodingOf(in.Encoding)
	if f != nil {
		return failedOnFile(f, in.FilePath)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() && !in.AllowSpecial {
		return failedOnFile(fault.New(fault.Execution, "Cannot read %s: it is not a regular file but a pipe, a socket or a device", in.FilePath).
			Suggest(`Set "allow_special": true to read it: it may have no end, and the node waits for who writes to a pipe`), in.FilePath)
	}
	file, err := openToRead(ctx, path, form.maxFileSize())
	if err == nil && isFolderPath(in.FilePath) { // but the file is not a folder
		err = errors.Join(syscall.ENOTDIR, file.Close())
	}
	if err != nil {
		return failedOnFile(readFault(in, path, err), in.FilePath)
	}
	defer func() { _ = file.Close() }()
	content := t.capture()
	to := &processOutput{task: t, to: []io.Writer{content}, stop: func(error) {}, left: MaxOutput, over: longFileFault(in)}
	_, err = io.Copy(to, &cancelReader{ctx: ctx, from: form.reader(file), enough: func() bool { return to.fault != nil }})
	if to.fault != nil {
		err = to.fault
	}
	value, storeErr := content.Value(false)
	if storeErr != nil {
		return &Result{StoreErr: storeErr}
	}
	if err != nil {
		return failedOnFile(readFault(in, path, err), in.FilePath)
	}
	return succeeded(nodetype.ReadFileOutputs{Content: nodetype.Binary(value), ContentIsBinary: content.Binary(), FilePath: in.FilePath})
}

// errTooLong is the error of a file that is longer than its reader accepts.
var errTooLong = errors.New("the file is too long")

// readFault is the fault of a file that cannot be read as text of the encoding asked for.
func readFault(in nodetype.ReadFile, path string, err error) *fault.Fault {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	if errors.Is(err, errTooLong) {
		return longFileFault(in)
	}
	if wrong, ok := errors.AsType[*encodingError](err); ok {
		return fault.New(fault.Execution, "Cannot read %s as %s: %v", in.FilePath, in.Encoding, wrong).
			Suggest(`Give the encoding that the file has; with "encoding": "utf-8", bytes that are not text are returned as base64`)
	}
	return fileFault("read", in.FilePath, path, err)
}

func longFileFault(in nodetype.ReadFile) *fault.Fault {
	return fault.New(fault.TooLarge, "%s has more than %d MiB, the most a node can output", in.FilePath, MaxOutput>>20).
		Suggest("Pass its path on, and read it in a shell node")
}

// openToRead opens a file of at most most bytes. Opening a pipe blocks until a writer opens it or ctx is done.
func openToRead(ctx context.Context, path string, most int64) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errFolder
	case info.Mode().IsRegular() && info.Size() > most:
		return nil, errTooLong
	case info.Mode().IsRegular():
		return os.Open(path)
	}
	file, err := input.Open(ctx, path)
	if err == nil { // ends a read that blocks; files that never block refuse a deadline
		context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })
	}
	return file, err
}

// cancelReader is a reader that returns the cause of its context once that is done, and io.EOF once enough returns true. A
// nil enough never does.
type cancelReader struct {
	ctx    context.Context
	from   io.Reader
	enough func() bool
}

// Read reads from the underlying reader.
func (c *cancelReader) Read(p []byte) (int, error) {
	if c.enough != nil && c.enough() {
		return 0, io.EOF
	}
	n, err := 0, c.ctx.Err()
	if err == nil {
		n, err = c.from.Read(p)
	}
	if err != nil && !errors.Is(err, io.EOF) && c.ctx.Err() != nil {
		err = context.Cause(c.ctx)
	}
	return n, err
}
