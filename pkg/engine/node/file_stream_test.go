package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/internal/webserver"
	"github.com/pflow-suite/pflow/pkg/fault"
)

func pipe(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
}

func TestWriteFileDoesNotWaitForeverForAPipe(t *testing.T) {
	on := task(t)
	pipe(t, filepath.Join(on.Dir, "pipe"))
	for _, way := range []string{"false", "true"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("enough"))
		failedWith(t, Run(ctx, prepared(t, "write-file", `{"file_path":"pipe","content":"x","append":`+way+`}`, nil), on), fault.Execution, "enough")
	}
	// A reader that reads only a part.
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		reader, err := os.Open(filepath.Join(on.Dir, "pipe"))
		if err == nil {
			defer func() { _ = reader.Close() }()
			_, err = reader.Read(make([]byte, 10))
		}
		cancel(errors.Join(errors.New("enough"), err))
		<-t.Context().Done()
	}()
	long := values{"long": `"` + strings.Repeat("0123456789", 100_000) + `"`}
	failedWith(t, Run(ctx, prepared(t, "write-file", `{"file_path":"pipe","content":"${long}"}`, long), on), fault.Execution, "enough")
}

func TestWriteFileFeedsAPipe(t *testing.T) {
	on := task(t)
	pipe(t, filepath.Join(on.Dir, "pipe"))
	read := make(chan string, 1)
	go func() {
		b, err := os.ReadFile(filepath.Join(on.Dir, "pipe"))
		read <- fmt.Sprint(len(b), err)
	}()
	long := values{"long": `"` + strings.Repeat("0123456789", 100_000) + `"`}
	r := perform(t, on, "write-file", `{"file_path":"pipe","content":"${long}"}`, long)
	if got := output(t, r, "written"); got != "Successfully wrote 1000000 bytes to 'pipe'" {
		t.Errorf("%s", got)
	}
	if got := <-read; got != "1000000 <nil>" {
		t.Errorf("%s", got)
	}
}

// Nothing else may be written to the stream of the run's events, by any of its names.
func TestNothingIsWrittenToTheProcessesOwnStreams(t *testing.T) {
	if _, err := os.Stat("/dev/fd/1"); err != nil {
		t.Skip("no /dev/fd")
	}
	s := webserver.Start(t)
	on := task(t)
	put(t, filepath.Join(on.Dir, "a"), "A")
	for name, target := range map[string]string{"out": "/dev/stdout", "further": "out", "folder": "/dev/fd"} {
		if err := os.Symlink(target, filepath.Join(on.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{"/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/77", "/dev/../dev/fd/2", "out", "further", "folder/1"}
	if _, err := os.Stat("/proc/self/fd"); err == nil {
		paths = append(paths, "/proc/self/fd/1", "/proc/thread-self/fd/1", fmt.Sprintf("/proc/%d/fd/2", os.Getpid()), fmt.Sprintf("/proc/self/task/%d/fd/2", os.Getpid()))
	}
	for _, path := range paths {
		for kind, params := range map[string]string{
			"write-file": `{"content":"x","file_path":"`, "copy-file": `{"source_path":"a","overwrite":true,"dest_path":"`,
			"http": `{"url":"` + s.URL + `/text","output_file":"`,
		} {
			r := perform(t, on, kind, params+path+`"}`, nil)
			failedWith(t, r, fault.Execution, path+" is a stream of the program that runs the workflow")
			if len(r.Fault.Suggestions) == 0 {
				t.Errorf("%+v", r.Fault)
			}
		}
	}
	output(t, perform(t, on, "write-file", `{"content":"x","file_path":"/dev/null"}`, nil), "written")
}

// A path that can only be a folder is refused for a file, as by the system.
func TestASourceWithASlashIsNoFile(t *testing.T) {
	on := task(t)
	put(t, filepath.Join(on.Dir, "a"), "A")
	for _, kind := range []string{"copy-file", "move-file"} {
		failedWith(t, perform(t, on, kind, `{"source_path":"a/","dest_path":"b"}`, nil), fault.Execution, "a/: not a directory")
	}
	failedWith(t, perform(t, on, "read-file", `{"file_path":"a/"}`, nil), fault.Execution, "Cannot read a/: not a directory")
}
