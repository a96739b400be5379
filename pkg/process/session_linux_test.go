package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// jobs starts jobs as a shell with job control does, each in a group of its own, and writes their ids to the file pids.
const jobs = `set -m; sleep 100 & echo $! >> pids; (trap "" TERM HUP; sleep 100; true) & echo $! >> pids; cat & echo $! >> pids; `

func pids(t *testing.T, dir string) (list []int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pids"))
	if err != nil {
		t.Fatal(err)
	}
	for f := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pid)
	}
	return list
}

// No job survives the end of its terminal or a cancellation, although each has a group of its own and the kernel stops jobs
// that read in the background.
func TestNoJobOutlivesItsTerminal(t *testing.T) {
	for name, marked := range map[string]bool{"with marks": true, "without": false} {
		for _, cancelled := range []bool{true, false} {
			t.Run(name+", cancelled "+strconv.FormatBool(cancelled), func(t *testing.T) {
				t.Parallel()
				c, _ := at(jobs+"echo ready", "")
				c.Dir = t.TempDir()
				if marked {
					c.Marks = []string{"PFLOW_RUN_ID=" + t.Name()}
					c.Env = append(c.Env, c.Marks...)
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if cancelled {
					c.Args[1] += `; trap "" TERM; while :; do wait; sleep 0.1; done`
					c.Stdout = writerFunc(func(p []byte) {
						if bytes.Contains(p, []byte("ready")) {
							cancel(errEnough)
						}
					})
				}
				if _, err := Run(ctx, c); cancelled && !errors.Is(err, errEnough) || !cancelled && err != nil {
					t.Error(err)
				}
				list := pids(t, c.Dir)
				for _, pid := range list {
					if alive(pid) {
						t.Errorf("%d of %v is left", pid, list)
						_ = unix.Kill(pid, unix.SIGKILL)
					}
				}
				if len(list) != 3 {
					t.Errorf("%v", list)
				}
			})
		}
	}
}

// A process that has left the session and holds the terminal is not waited for.
func TestATerminalThatIsHeld(t *testing.T) {
	c, out := at(`setsid sleep 100 & echo $! > pids; while ! [ "$(ps -o sid= -p $!)" -eq $! ]; do :; done; echo end`, "")
	c.Dir = t.TempDir()
	if exit, err := Run(t.Context(), c); err != nil || exit.Code != 0 || out.String() != "end\n" {
		t.Errorf("%+v %v %q", exit, err, out)
	}
	for _, pid := range pids(t, c.Dir) {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Errorf("%d was ended: %v", pid, err)
		}
	}
}

func TestATerminalLeavesNoDescriptorBehind(t *testing.T) {
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	c, _ := at("true", "never read\n")
	if _, err := Run(t.Context(), c); err != nil { // which opens what stays open
		t.Fatal(err)
	}
	before := open()
	for range 10 {
		c, _ := at("true", "never read\n")
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(patience); open() > before; {
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors, %d before", open(), before)
		}
	}
}
