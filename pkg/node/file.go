package node

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/google/renameio/v2"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/template"
)

// runReadFile reads a whole file.
func runReadFile(ctx context.Context, p *Prepared, t *Task) *Result {
	in, f := decode[nodetype.ReadFile](p)
	if f != nil {
		return failed(f, nil)
	}
	b, err := readFile(ctx, under(t, in.FilePath))
	if errors.Is(err, errTooLong) {
		return failed(fault.New(fault.TooLarge, "%s has more than the %d MiB that a node puts out", in.FilePath, MaxOutput>>20).
			Suggest("Pass its path on and let a shell node read it"), nil)
	}
	if err != nil {
		return failed(fileFault("read", in.FilePath, err), nil)
	}
	if f := toText(&b, in.Encoding); f != nil {
		return failed(f, nil)
	}
	return completed(nodetype.ReadFileOutputs{
		Content: nodetype.Binary(event.String(b)), ContentIsBinary: !utf8.Valid(b), FilePath: in.FilePath,
	})
}

// errTooLong is the error of a file that is too long to be a node's output.
var errTooLong = errors.New("the file is too long")

// readFile reads a whole file. What is no regular file, such as a pipe that nobody writes to, may make its reader wait
// for ever, so it is left waiting when ctx is done.
func readFile(ctx context.Context, path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.Size() > MaxOutput:
		return nil, errTooLong
	case info.Mode().IsRegular(), info.IsDir():
		return os.ReadFile(path)
	}
	type result struct {
		b   []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		f, err := os.Open(path)
		if err != nil {
			done <- result{nil, err}
			return
		}
		defer func() { _ = f.Close() }()
		b, err := io.ReadAll(io.LimitReader(f, MaxOutput+1))
		if len(b) > MaxOutput {
			err = errTooLong
		}
		done <- result{b, err}
	}()
	select {
	case r := <-done:
		return r.b, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// runWriteFile writes a file: replaced in one step, or added to.
func runWriteFile(p *Prepared, t *Task) *Result {
	in, f := decode[nodetype.WriteFile](p)
	if f != nil {
		return failed(f, nil)
	}
	content := []byte(template.AsText(in.Content))
	if in.ContentIsBinary {
		b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(content)))
		if err != nil {
			return failed(fault.New(fault.Execution, "content_is_binary is set and content is no base64: %v", err), nil)
		}
		content = b
	} else if f := fromText(&content, in.Encoding); f != nil {
		return failed(f, nil)
	}
	path := under(t, in.FilePath)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil { //nolint:gosec // the user's own file, under the user's umask
		return failed(fileFault("create the folder of", in.FilePath, err), nil)
	}
	verb := "wrote"
	var err error
	if in.Append {
		verb, err = "appended", appendTo(path, content)
	} else {
		err = replace(path, content)
	}
	if err != nil {
		return failed(fileFault("write", in.FilePath, err), nil)
	}
	return completed(nodetype.WriteFileOutputs{Written: fmt.Sprintf("Successfully %s %d bytes to '%s'", verb, len(content), in.FilePath), FilePath: in.FilePath})
}

func appendTo(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666) //nolint:gosec // under the user's umask
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// replace writes beside the file and renames, so that no reader sees half of it. What is no regular file, such as a
// device or a pipe, is written to as it is, and so is a link to a file that is not there yet.
func replace(path string, content []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return errors.New("it is a folder")
		}
		return appendTo(path, content)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	} else if _, err := os.Readlink(path); err == nil {
		return appendTo(path, content)
	}
	t, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o666), renameio.WithExistingPermissions())
	if err != nil {
		return err
	}
	defer func() { _ = t.Cleanup() }()
	if _, err := t.Write(content); err != nil {
		return err
	}
	return t.CloseAtomicallyReplace()
}

// toText turns a file's bytes into UTF-8 by their encoding; bytes that are not what they should be stay as they are.
func toText(b *[]byte, encoding string) *fault.Fault {
	switch canonical(encoding) {
	case "utf8", "ascii":
		return nil
	case "latin1":
		runes := make([]rune, len(*b))
		for i, c := range *b {
			runes[i] = rune(c)
		}
		*b = []byte(string(runes))
		return nil
	}
	return unknownEncoding(encoding)
}

func fromText(b *[]byte, encoding string) *fault.Fault {
	limit := map[string]rune{"ascii": 127, "latin1": 255}[canonical(encoding)]
	switch {
	case canonical(encoding) == "utf8":
		return nil
	case limit == 0:
		return unknownEncoding(encoding)
	}
	out := make([]byte, 0, len(*b))
	for _, r := range string(*b) {
		if r > limit {
			return fault.New(fault.Execution, "%q cannot be written as %s", string(r), encoding).Suggest(`Use "encoding": "utf-8"`)
		}
		out = append(out, byte(r))
	}
	*b = out
	return nil
}

func canonical(encoding string) string {
	name := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(encoding))
	switch name {
	case "iso88591":
		return "latin1"
	case "usascii":
		return "ascii"
	}
	return name
}

func unknownEncoding(encoding string) *fault.Fault {
	return fault.New(fault.Execution, "Unknown encoding %q", encoding).Suggest("Use utf-8, latin-1 or ascii")
}

// fileFault says what is wrong with a file in the words in which the node named it.
func fileFault(verb, path string, err error) *fault.Fault {
	f := fault.New(fault.Execution, "Cannot %s %s: %v", verb, path, fault.Reason(err))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Suggest("Check the path: it is relative to the run's working directory, which -C DIR sets")
	case errors.Is(err, fs.ErrPermission):
		f.Suggest("Check the permissions of the file and its folder")
	}
	return f
}
