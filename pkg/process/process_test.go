package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// patience is the longest time for which a test waits. It bounds tests that hang, not what is slow.
const patience = 5 * time.Minute

func sh(script string) (Command, *bytes.Buffer, *bytes.Buffer) {
	var out, err bytes.Buffer
	return Command{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out, Stderr: &err, Grace: time.Second}, &out, &err
}

func TestRun(t *testing.T) {
	c, out, errs := sh("echo out; echo err >&2; cat; exit 3")
	c.Stdin = strings.NewReader("fed")
	exit, err := Run(t.Context(), c)
	if err != nil || exit.Code != 3 || out.String() != "out\nfed" || errs.String() != "err\n" {
		t.Errorf("%+v %v %q %q", exit, err, out, errs)
	}
}

func TestWithoutStdinThereIsNothingToRead(t *testing.T) {
	c, out, _ := sh("cat; echo end")
	if _, err := Run(t.Context(), c); err != nil || out.String() != "end\n" {
		t.Errorf("%v %q", err, out)
	}
}

func TestMuchOutputAndMuchInputDoNotBlock(t *testing.T) {
	c, out, errs := sh("cat | tee /dev/stderr")
	want := strings.Repeat("0123456789abcde\n", 1<<17)
	c.Stdin = strings.NewReader(want)
	if _, err := Run(t.Context(), c); err != nil || out.String() != want || errs.String() != want {
		t.Errorf("%v, %d and %d bytes of %d", err, out.Len(), errs.Len(), len(want))
	}
	c, _, _ = sh("exit 0") // never reads
	c.Stdin = strings.NewReader(want)
	if _, err := Run(t.Context(), c); err != nil {
		t.Error(err)
	}
}

func TestEndBySignalIsTold(t *testing.T) {
	c, _, _ := sh("kill -KILL $$")
	exit, err := Run(t.Context(), c)
	if err != nil || exit.Code != 137 || exit.Signal == "" {
		t.Errorf("%+v %v", exit, err)
	}
}

func TestCannotStart(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Command{
		"Command not found: no-such-program": {Path: "no-such-program", Env: []string{"PATH=/bin"}},
		"Command not found: /no/such":        {Path: "/no/such"},
		"Working directory does not exist":   {Path: "/bin/true", Dir: filepath.Join(dir, "nope")},
		"permission denied":                  {Path: plain},
	} {
		_, err := Run(t.Context(), c)
		if f := fault.From(err); err == nil || !strings.Contains(f.Message, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// alive reports whether a process with this id exists and is not a zombie.
func alive(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !errors.Is(err, os.ErrNotExist)
	}
	return !strings.Contains(string(b), ") Z ")
}

func TestCancelReachesTheWholeGroup(t *testing.T) {
	for name, script := range map[string]string{
		"children":         "sleep 100 & echo $! $$; wait",
		"ignoring SIGTERM": "trap '' TERM; sleep 100 & echo $! $$; while :; do wait; done",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("enough")
			var pids []int
			c, _, _ := sh(script)
			c.Stdout = writerFunc(func(p []byte) {
				for f := range strings.FieldsSeq(string(p)) {
					pid, _ := strconv.Atoi(f)
					pids = append(pids, pid)
				}
				cancel(why)
			})
			if _, err := Run(ctx, c); !errors.Is(err, why) {
				t.Errorf("error %v", err)
			}
			for _, pid := range pids {
				if alive(pid) {
					t.Errorf("%d of %v is left", pid, pids)
				}
			}
		})
	}
}

func TestABackgroundChildIsNotWaitedForAndNotLeft(t *testing.T) {
	c, out, _ := sh("sleep 1000 & echo $!")
	began := time.Now()
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if pid, _ := strconv.Atoi(strings.TrimSpace(out.String())); alive(pid) || time.Since(began) > patience {
		t.Errorf("the child is left, or took %s", time.Since(began))
	}
}

func TestLastWordsOfAProcessSubstitutionArrive(t *testing.T) {
	c, out, _ := sh("(read x < /dev/null; for i in 1 2 3 4 5; do echo $i; done) & exit 0")
	if _, err := Run(t.Context(), c); err != nil || out.String() != "1\n2\n3\n4\n5\n" {
		t.Errorf("%v %q", err, out)
	}
}

func TestProcessStopLeavesNothing(t *testing.T) {
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", "trap '' TERM; sleep 100 & echo $!; echo oops >&2; while :; do wait; done"}, Env: []string{"PATH=/usr/bin:/bin"}, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 32)
	n, err := p.Stdout.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	child, _ := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	p.Stop(10 * time.Millisecond)
	p.Stop(10 * time.Millisecond)
	if alive(child) || alive(p.Pid()) || p.StderrTail() != "oops\n" {
		t.Errorf("left over, or stderr lost: %q", p.StderrTail())
	}
}

func TestWhatLeftItsSessionIsFoundByItsMark(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system does not show environments")
	}
	c, out, _ := sh("setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' > pid & while ! [ -s pid ]; do :; done; cat pid")
	c.Dir, c.Env = t.TempDir(), append(c.Env, "PFLOW_RUN_ID=outer", "PFLOW_RUN_ID=r-of-this-test")
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(out.String()))
	if !alive(pid) || len(marked(table(), []string{"PFLOW_RUN_ID=outer"})) > 0 {
		t.Fatalf("%d is not there, or has two values of one name", pid)
	}
	EndMarked(100*time.Millisecond, "PFLOW_RUN_ID=r-of-this-test")
	if alive(pid) {
		t.Errorf("%d is left", pid)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	tail := NewTail(10)
	for _, s := range []string{"first line\n", "second\n", "\xff third"} {
		_, _ = tail.Write([]byte(s))
	}
	if got := tail.String(); got != "…\n\uFFFD third" {
		t.Errorf("%q", got)
	}
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }
