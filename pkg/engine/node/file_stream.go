package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// retryPause is the time between two attempts to open or write to a pipe that is not ready.
const retryPause = 10 * time.Millisecond

// feed writes to a file that is not regular, such as a pipe. It ends when ctx is done, even if there is no reader.
func (w *fileContent) feed(path string, content []byte) error {
	f, err := w.openToFeed(path)
	if err != nil {
		return err
	}
	defer context.AfterFunc(w.ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })()
	for err = w.ctx.Err(); err == nil && len(content) > 0; {
		var n int
		n, err = f.Write(content)
		w.size, content = w.size+int64(n), content[n:]
		if errors.Is(err, syscall.EAGAIN) { // the system does not report when there is room
			err = w.pause()
		}
	}
	err = errors.Join(err, f.Close())
	if err != nil && w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return err
}

// openToFeed opens a file that is not regular. For a pipe it waits until there is a reader.
func (w *fileContent) openToFeed(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.ENXIO) {
			return f, err
		}
		if info, failed := os.Stat(path); failed != nil || info.Mode()&os.ModeNamedPipe == 0 {
			return nil, err
		}
		if err := w.pause(); err != nil {
			return nil, err
		}
	}
}

// pause waits for retryPause, or returns the context's cause when ctx is done.
func (w *fileContent) pause() error {
	timer := time.NewTimer(retryPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
}

// maxLinks is the most symbolic links that are followed from one path.
const maxLinks = 40

// isOwnStream reports whether a path leads to an open descriptor of this process, or to the regular file that is its
// standard output. The run's events are written there.
func isOwnStream(path string) bool {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if out, err := os.Stat("/dev/fd/1"); err == nil && os.SameFile(info, out) {
			return true
		}
	}
	for range maxLinks {
		if isDescriptor(path) {
			return true
		}
		target, err := os.Readlink(path)
		if err != nil {
			return false
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return false
}

// descriptorPaths matches the paths of this process's open descriptors.
var descriptorPaths = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(/dev/fd/[0-9]+|/dev/std(in|out|err)|/proc/(self|thread-self|` + strconv.Itoa(os.Getpid()) + `)(/task/[0-9]+)?/fd/[0-9]+)$`)
})

// isDescriptor reports whether a path is that of an open descriptor of this process.
func isDescriptor(path string) bool {
	if descriptorPaths().MatchString(path) {
		return true
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	return err == nil && descriptorPaths().MatchString(filepath.Join(folder, filepath.Base(path)))
}

// streamFault is the fault of writing to a file that is a stream of this process.
func streamFault(param, name string) *fault.Fault {
	return fault.New(fault.Execution, "%s %s is a stream of the program that runs the workflow, which writes events there", param, name).
		Suggest("Write to a file, or declare the value as an output of the workflow")
}
