package node

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// runWriteFile replaces a file in one step, or appends to it.
func runWriteFile(ctx context.Context, p *Call, t *Task) *Result {
	raw, p := splitParam(p, "content")
	in, f := decode[nodetype.WriteFile](p)
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
	if isFolderPath(in.FilePath) {
		return failedOnFile(fileFault("write", in.FilePath, path, errFolder), in.FilePath)
	}
	if isOwnStream(path) {
		return failedOnFile(streamFault("file_path", in.FilePath), in.FilePath)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil { //nolint:gosec // the user's own file, under the user's umask
		return failedOnFile(fileFault("create the folder of", in.FilePath, path, err), in.FilePath)
	}
	content, err := p.openLong(raw)
	if err != nil {
		return &Result{StoreErr: err}
	}
	defer func() { _ = content.Close() }()
	w := &fileContent{ctx: ctx, content: content, form: form, binary: in.ContentIsBinary}
	verb, write := "wrote", w.replace
	if in.Append {
		verb, write = "appended", w.appendTo
	}
	if err := write(path); err != nil {
		return failedOnFile(writeFault(in, path, err), in.FilePath)
	}
	return succeeded(nodetype.WriteFileOutputs{Written: fmt.Sprintf("Successfully %s %d bytes to '%s'", verb, w.size, in.FilePath), FilePath: in.FilePath})
}

// contentIsBinary is the parameter of a write-file node that says that its content is base64.
const contentIsBinary = "content_is_binary"

// keepBytes makes a write-file node write bytes as they are if its content consists of one template whose value is bytes with a
// content type, such as an image of an MCP tool. Elsewhere such bytes read as base64. stream may be nil.
func (p *Call) keepBytes(written json.RawMessage, params map[string]json.RawMessage, stream template.Scope) {
	if _, given := params[contentIsBinary]; given || stream == nil || !bytes.HasPrefix(params["content"], []byte(`"`)) {
		return
	}
	expr, whole := template.Whole(template.AsText(written))
	if !whole {
		return
	}
	if value, reason := expr.Value(withLocals(p.locals, stream)); reason == "" && event.IsBytes(value) {
		params[contentIsBinary] = json.RawMessage("true")
	}
}

// writeFault is the fault of a file that cannot be written.
func writeFault(in nodetype.WriteFile, path string, err error) *fault.Fault {
	if wrong, ok := errors.AsType[base64.CorruptInputError](err); ok || errors.Is(err, io.ErrUnexpectedEOF) {
		at := ""
		if ok {
			at = fmt.Sprintf(", at byte %d", int64(wrong))
		}
		return fault.New(fault.Execution, "content_is_binary is true, and content is not base64%s", at).
			Suggest(`Give base64 in "content", or omit content_is_binary to write text`)
	}
	if wrong, ok := errors.AsType[*encodingError](err); ok {
		return fault.New(fault.Execution, "Cannot write %s as %s: %v of content", in.FilePath, in.Encoding, wrong).Suggest(`Use "encoding": "utf-8"`)
	}
	return fileFault("write", in.FilePath, path, err)
}

// fileContent is the content to write to a file.
type fileContent struct {
	ctx     context.Context
	content io.Reader
	form    encoding
	binary  bool
	size    int64
}

// reader returns the bytes to write; first is set if they are the first of the file, which begins with the mark of its
// encoding.
func (w *fileContent) reader(first bool) io.Reader {
	content := w.content
	if w.binary {
		return base64.NewDecoder(base64.StdEncoding, &spaceStripper{content})
	}
	content = w.form.writer(content)
	if first && w.form.mark != "" {
		content = io.MultiReader(strings.NewReader(w.form.mark), content)
	}
	return content
}

// appendTo appends the content to a file in one write, so that the writes of several processes do not mix.
func (w *fileContent) appendTo(path string) error {
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

// append writes the content. If only a part could be written, it removes that part again.
func (w *fileContent) append(f *os.File, content []byte) error {
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

// replace replaces the file in one step. A file that is not regular, such as a device or a pipe, and the missing target of a
// link are written to in place.
func (w *fileContent) replace(path string) error {
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
		w.size, err = io.Copy(to, &cancelReader{ctx: w.ctx, from: w.reader(true)})
		return err
	})
}

// spaceStripper removes white space, for base64 that is broken into lines.
type spaceStripper struct{ from io.Reader }

// Read reads the next part without its white space.
func (u *spaceStripper) Read(p []byte) (int, error) {
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
