// Package input reads files and streams that come from outside the program. Each read has a limit, so that an endless file
// cannot fill the memory. A read that waits, such as for a pipe without a writer, ends with its context.
package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// MaxDocument is the most bytes of a document: inputs, settings, the registry, an argument from a file.
const MaxDocument = 64 << 20

// Read reads r to its end. If r has more than limit bytes, the error is a validation_error that names r by name. If ctx ends
// while r waits, the error is the context's cause; the goroutine that waits ends when its read does.
func Read(ctx context.Context, r io.Reader, name string, limit int64) ([]byte, error) {
	return readAll(Limit(Reader(ctx, r), name, limit), 4<<10)
}

// patience is how long [Late] goes on.
const patience = 2 * time.Second

// Late returns a context that ends a while after ctx, with the same cause: for what should be finished after ctx has ended, but may wait for
// ever, as for a file system that does not answer. end must be called.
func Late(ctx context.Context) (late context.Context, end func()) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-late.Done():
		case <-time.After(patience):
			cancel(context.Cause(ctx))
		}
	})
	return late, func() {
		stop()
		cancel(nil)
	}
}

// File reads a file as Read does. Opening a pipe without a writer waits as a read does. A regular file is read even if ctx
// has ended, because a program that stops in order still reads its own files, unless the file system does not answer.
func File(ctx context.Context, path, name string, limit int64) ([]byte, error) {
	late, end := Late(ctx)
	defer end()
	return Wait(late, func() ([]byte, error) { return readFile(ctx, path, name, limit) }, func([]byte) {})
}

func readFile(ctx context.Context, path, name string, limit int64) ([]byte, error) {
	file, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return Read(ctx, file, name, limit)
	}
	return readRegular(file, info, name, limit)
}

func readRegular(file *os.File, info os.FileInfo, name string, limit int64) ([]byte, error) {
	if info.Size() > limit {
		return nil, tooLong(name, limit)
	}
	// A file of /proc has the size 0 and content all the same.
	return readAll(Limit(file, name, limit), int(info.Size())+512)
}

// Open opens a file to read. It waits for the writer of a pipe until ctx ends.
func Open(ctx context.Context, path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() || info.IsDir() {
		return os.Open(path)
	}
	return Wait(ctx, func() (*os.File, error) { return os.Open(path) }, func(late *os.File) { _ = late.Close() })
}

// OpenRegular opens a regular file to read, and waits for nothing: the error of a pipe, a device or a folder is a validation_error
// that calls it by name.
func OpenRegular(path, name string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if errors.Is(err, unix.ENXIO) { // a socket
		return nil, notRegular(name)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(name)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func notRegular(name string) *fault.Fault {
	return fault.New(fault.Validation, "%s is not a regular file", name).Suggest("Put a regular file in its place, or remove it")
}

// RegularFile reads a regular file as Read does, and fails like OpenRegular.
func RegularFile(path, name string, limit int64) ([]byte, error) {
	file, err := OpenRegular(path, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return readRegular(file, info, name, limit)
}

// Wait calls f and returns its results, or the cause of ctx if that ends first. In that case f goes on, and drop is called with its
// result unless that is an error.
func Wait[T any](ctx context.Context, f func() (T, error), drop func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result)
	go func() {
		value, err := f()
		select {
		case done <- result{value, err}:
		case <-ctx.Done():
			if err == nil {
				drop(value)
			}
		}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// Reader returns a reader of r whose reads end with the context's cause when ctx ends, even while r waits.
func Reader(ctx context.Context, r io.Reader) io.Reader {
	return &reader{ctx: ctx, from: r, buf: make([]byte, 64<<10), done: make(chan result, 1)}
}

// reader passes on what a goroutine reads into buf. At most one such goroutine exists at a time.
type reader struct {
	ctx  context.Context
	from io.Reader
	buf  []byte
	// rest is the part of buf that has been read and not passed on.
	rest []byte
	done chan result
	err  error
}

type result struct {
	n   int
	err error
}

// Read must not be called again after an error.
func (r *reader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 && r.err == nil {
		if r.ctx.Err() != nil {
			return 0, context.Cause(r.ctx)
		}
		go func() {
			n, err := r.from.Read(r.buf)
			r.done <- result{n, err}
		}()
		select {
		case got := <-r.done:
			r.rest, r.err = r.buf[:got.n], got.err
		case <-r.ctx.Done():
			r.err = context.Cause(r.ctx)
			return 0, r.err
		}
	}
	n := copy(p, r.rest)
	if r.rest = r.rest[n:]; len(r.rest) > 0 {
		return n, nil
	}
	return n, r.err
}

// Limit returns a reader of r that fails with a validation_error after limit bytes if r has more.
func Limit(r io.Reader, name string, limit int64) io.Reader {
	return &limited{from: io.LimitedReader{R: r, N: limit + 1}, name: name, limit: limit}
}

type limited struct {
	from  io.LimitedReader
	name  string
	limit int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.from.N == 0 {
		return 0, tooLong(l.name, l.limit)
	}
	return n, err
}

func tooLong(name string, limit int64) *fault.Fault {
	return fault.New(fault.Validation, "%s has more than %s, the limit for it", name, size(limit)).Suggest("Give less, or check that it is the right file")
}

// size returns a number of bytes in MiB if it has some.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// maxPart is the most that readAll reads at a time.
const maxPart = 16 << 20

// readAll is io.ReadAll, except that it needs no memory twice for an error, or for what is shorter than size.
func readAll(r io.Reader, size int) ([]byte, error) {
	var parts [][]byte
	for ; ; size = min(2*size, maxPart) {
		part := make([]byte, size)
		n, err := io.ReadFull(r, part)
		parts = append(parts, part[:n])
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF: //nolint:errorlint // io.ReadFull returns them as they are
			if len(parts) == 1 {
				return parts[0], nil
			}
			return slices.Concat(parts...), nil
		case err != nil:
			return nil, err
		}
	}
}
