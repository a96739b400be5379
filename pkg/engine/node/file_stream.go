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

// patience is the time after which a pipe that takes nothing is asked again.
const patience = 10 * time.Millisecond

// feed writes to what is no regular file, such as a pipe, until ctx is done: also where nobody reads.
func (w *written) feed(path string, content []byte) error {
	f, err := w.openToFeed(path)
	if err != nil {
		return err
	}
	defer context.AfterFunc(w.ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })()
	for err = w.ctx.Err(); err == nil && len(content) > 0; {
		var n int
		n, err = f.Write(content)
		w.size, content = w.size+int64(n), content[n:]
		if errors.Is(err, syscall.EAGAIN) { // where the system cannot tell when there is room
			err = w.pause()
		}
	}
	err = errors.Join(err, f.Close())
	if err != nil && w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return err
}

// openToFeed opens what is no regular file. A pipe that nobody reads is waited for.
func (w *written) openToFeed(path string) (*os.File, error) {
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

// pause waits a little, or until ctx is done.
func (w *written) pause() error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
}

// maxLinks is how many links are followed from one path.
const maxLinks = 40

// ownStream says whether a path leads to an open file of this very process, such as its standard output, on which the
// events of the run go out, or to the regular file that standard output goes to.
func ownStream(path string) bool {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if out, err := os.Stat("/dev/fd/1"); err == nil && os.SameFile(info, out) {
			return true
		}
	}
	for range maxLinks {
		if descriptor(path) {
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

// descriptors are the folders that hold the open files of a process, and the names for three of them.
var descriptors = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(/dev/fd/[0-9]+|/dev/std(in|out|err)|/proc/(self|thread-self|` + strconv.Itoa(os.Getpid()) + `)(/task/[0-9]+)?/fd/[0-9]+)$`)
})

// descriptor says whether a path is that of an open file of this process.
func descriptor(path string) bool {
	if descriptors().MatchString(path) {
		return true
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	return err == nil && descriptors().MatchString(filepath.Join(folder, filepath.Base(path)))
}

// streamFault is the fault of a file that a node must not write to, for this process does.
func streamFault(param, name string) *fault.Fault {
	return fault.New(fault.Execution, "%s %s is a stream of the program that runs the workflow, whose events go out there", param, name).
		Suggest("Write to a file, or declare what is to be seen as an output of the workflow")
}
