package node

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// runWriteFile writes a file: replaced in one step, or added to.
func runWriteFile(ctx context.Context, p *Call, t *Task) *Result {
	raw, p := large(p, "content")
	in, f := decode[nodetype.WriteFile](p)
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
	if namesFolder(in.FilePath) {
		return fileFailed(fileFault("write", in.FilePath, path, errFolder), in.FilePath)
	}
	if ownStream(path) {
		return fileFailed(streamFault("file_path", in.FilePath), in.FilePath)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil { //nolint:gosec // the user's own file, under the user's umask
		return fileFailed(fileFault("create the folder of", in.FilePath, path, err), in.FilePath)
	}
	w := &written{ctx: ctx, raw: raw, form: form, binary: in.ContentIsBinary}
	verb, write := "wrote", w.replace
	if in.Append {
		verb, write = "appended", w.appendTo
	}
	if err := write(path); err != nil {
		return fileFailed(writeFault(in, path, err), in.FilePath)
	}
	return completed(nodetype.WriteFileOutputs{Written: fmt.Sprintf("Successfully %s %d bytes to '%s'", verb, w.size, in.FilePath), FilePath: in.FilePath})
}

func writeFault(in nodetype.WriteFile, path string, err error) *fault.Fault {
	if wrong, ok := errors.AsType[base64.CorruptInputError](err); ok || errors.Is(err, io.ErrUnexpectedEOF) {
		at := ""
		if ok {
			at = fmt.Sprintf(", at byte %d", int64(wrong))
		}
		return fault.New(fault.Execution, "content_is_binary is set and content is no base64%s", at).
			Suggest(`Give base64 in "content", or leave content_is_binary out to write the text as it is`)
	}
	if wrong, ok := errors.AsType[*encodingError](err); ok {
		return fault.New(fault.Execution, "Cannot write %s as %s: %v of content", in.FilePath, in.Encoding, wrong).Suggest(`Use "encoding": "utf-8"`)
	}
	return fileFault("write", in.FilePath, path, err)
}

// written is what is to be written to a file.
type written struct {
	ctx    context.Context
	raw    json.RawMessage
	form   encoding
	binary bool
	size   int64
}

// reader gives the bytes of the content; first says that they are the first of the file.
func (w *written) reader(first bool) io.Reader {
	content := textOf(w.raw)
	if w.binary {
		return base64.NewDecoder(base64.StdEncoding, &unspaced{content})
	}
	content = w.form.writer(content)
	if first && w.form.mark != "" {
		content = io.MultiReader(strings.NewReader(w.form.mark), content)
	}
	return content
}

// appendTo adds the content to a file's end in one write, so that those of several writers do not mix.
func (w *written) appendTo(path string) error {
	info, err := os.Stat(path)
	content, failed := io.ReadAll(w.reader(err != nil || info.Size() == 0))
	if failed != nil {
		return failed
	}
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return w.feed(path, content)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666) //nolint:gosec // under the user's umask
	if err != nil {
		return err
	}
	return errors.Join(w.append(f, content), f.Close())
}

// append writes, and takes back what it could write of what it could not write whole.
func (w *written) append(f *os.File, content []byte) error {
	before, failed := f.Stat()
	n, err := f.Write(content)
	w.size = int64(n)
	if err == nil || n == 0 || failed != nil {
		return err
	}
	if after, failed := f.Stat(); failed == nil && after.Size() == before.Size()+int64(n) && f.Truncate(before.Size()) == nil {
		return err
	}
	return fmt.Errorf("only %d of %d bytes were appended: %w", n, len(content), fault.Reason(err))
}

// replace replaces the file in one step. What is no regular file, such as a device or a pipe, is written to as it is, and so
// is a link to a file that is not there yet.
func (w *written) replace(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return errFolder
		}
		return w.appendTo(path)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	} else if _, err := os.Readlink(path); err == nil {
		return w.appendTo(path)
	}
	return replaceFile(path, func(to io.Writer) (err error) {
		w.size, err = io.Copy(to, &cancellable{ctx: w.ctx, from: w.reader(true)})
		return err
	})
}

// unspaced leaves out the white space of base64 that is broken into lines.
type unspaced struct{ from io.Reader }

// Read gives what is left of the next piece.
func (u *unspaced) Read(p []byte) (int, error) {
	n, err := u.from.Read(p)
	kept := 0
	for _, c := range p[:n] {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			p[kept] = c
			kept++
		}
	}
	return kept, err
}
