package node

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// runReadFile reads a whole file.
func runReadFile(ctx context.Context, p *Call, t *Task) *Result {
	in, f := decode[nodetype.ReadFile](p)
	if f != nil {
		return failed(f, nil)
	}
	path, f := located(t, "file_path", in.FilePath)
	if f != nil {
		return fileFailed(f, in.FilePath)
	}
	form, f := encodingOf(in.Encoding)
	if f != nil {
		return fileFailed(f, in.FilePath)
	}
	file, err := openToRead(ctx, path, form.longest())
	if err == nil && namesFolder(in.FilePath) { // it is there, and no folder
		err = errors.Join(syscall.ENOTDIR, file.Close())
	}
	if err != nil {
		return fileFailed(readFault(in, path, err), in.FilePath)
	}
	defer func() { _ = file.Close() }()
	content := t.capture()
	_, err = io.Copy(content, &cancellable{ctx: ctx, from: form.reader(file), enough: content.Truncated})
	if content.Truncated() {
		err = errTooLong
	}
	value, unkept := content.Value(false)
	if unkept != nil {
		return &Result{StoreErr: unkept}
	}
	if err != nil {
		return fileFailed(readFault(in, path, err), in.FilePath)
	}
	return completed(nodetype.ReadFileOutputs{Content: nodetype.Binary(value), ContentIsBinary: content.Binary(), FilePath: in.FilePath})
}

// errTooLong is the error of a file that is too long to be a node's output.
var errTooLong = errors.New("the file is too long")

func readFault(in nodetype.ReadFile, path string, err error) *fault.Fault {
	if errors.Is(err, errTooLong) {
		return fault.New(fault.TooLarge, "%s has more than the %d MiB that a node puts out", in.FilePath, MaxOutput>>20).
			Suggest("Pass its path on and let a shell node read it")
	}
	if wrong, ok := errors.AsType[*encodingError](err); ok {
		return fault.New(fault.Execution, "Cannot read %s as %s: %v", in.FilePath, in.Encoding, wrong).
			Suggest(`Give the encoding that the file has; with "encoding": "utf-8", what is not text comes as base64`)
	}
	return fileFault("read", in.FilePath, path, err)
}

// openToRead opens a file of no more than so many bytes. To open a pipe that nobody writes to may take for ever: it is left waiting when ctx is done.
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
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened)
	go func() {
		file, err := os.Open(path)
		select {
		case done <- opened{file, err}:
		case <-ctx.Done():
			if err == nil {
				_ = file.Close()
			}
		}
	}()
	select {
	case o := <-done:
		if o.err == nil { // a reader that waits for more is woken when ctx is done; what cannot wait has no deadline
			context.AfterFunc(ctx, func() { _ = o.file.SetReadDeadline(time.Unix(1, 0)) })
		}
		return o.file, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// cancellable is a reader that ends with the cause of its context, and with io.EOF when it is told that there is enough.
type cancellable struct {
	ctx    context.Context
	from   io.Reader
	enough func() bool
}

// Read reads what there is.
func (c *cancellable) Read(p []byte) (int, error) {
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
