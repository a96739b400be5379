package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// begin runs a script in a folder of its own until it has ended, and returns the pid that it wrote to the file pid.
func begin(t *testing.T, script string) (pid int, dir string) {
	t.Helper()
	AdoptOrphans()
	c, out, errs := sh(script + "\nwhile ! [ -s pid ]; do :; done; cat pid")
	c.Dir = t.TempDir()
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil || !alive(pid) {
		t.Fatalf("%d is not there: %v %s", pid, err, errs)
	}
	return pid, c.Dir
}

const aside = " >/dev/null 2>&1 &)"

func TestStraysAreEndedWhateverTheyDo(t *testing.T) {
	for name, script := range map[string]string{
		"in a session of its own": `(setsid sh -c 'echo $$ > pid; sleep 100'` + aside,
		"without environment":     `(env -i setsid sh -c 'echo $$ > pid; sleep 100'` + aside,
		"ignoring SIGTERM":        `(env -i setsid sh -c 'trap "" TERM; echo $$ > pid; sleep 100; true'` + aside,
		"forking":                 `(env -i setsid sh -c 'trap "" TERM; echo $$ > pid; i=0; while [ $i -lt 200 ]; do i=$((i+1)); (setsid sleep 100 &); sleep 0.01; done'` + aside,
		"passing itself on":       `(env -i setsid sh -c 'trap "" TERM; echo $$ > pid; on() { [ $1 -gt 400 ] || { sleep 0.01; on $(($1+1)) & }; }; on 0; sleep 100'` + aside,
	} {
		t.Run(name, func(t *testing.T) {
			pid, _ := begin(t, script)
			strays := Strays{Mark: "PFLOW_RUN_ID=r-of-this-test", Grace: 200 * time.Millisecond}
			strays.Terminate()
			strays.End()
			if left, _ := descendants(table(), os.Getpid()); alive(pid) || len(killable(left, nil)) > 0 {
				t.Errorf("%d, and %v are left", pid, left)
			}
		})
	}
}

func TestAStrayOfAnotherRunIsNotToldButKilled(t *testing.T) {
	pid, dir := begin(t, `(PFLOW_RUN_ID=another setsid sh -c 'trap "echo heard > heard" TERM; echo $$ > pid; while :; do sleep 0.01; done'`+aside)
	strays := Strays{Mark: "PFLOW_RUN_ID=mine", Grace: 100 * time.Millisecond}
	strays.End()
	if _, err := os.Stat(filepath.Join(dir, "heard")); err == nil || alive(pid) {
		t.Errorf("it is left, or received SIGTERM: %v", err)
	}
}

func TestASessionOfItsOwnIsNoStray(t *testing.T) {
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", "echo here; sleep 100; true"}, Env: []string{"PATH=/usr/bin:/bin"}, Session: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop(0)
	if _, err := p.Stdout.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	strays := Strays{Grace: 100 * time.Millisecond}
	strays.Terminate()
	strays.End()
	if !alive(p.Pid()) {
		t.Error("it was ended")
	}
}

// stopped runs a script and cancels it when it has printed something.
func stopped(t *testing.T, script string, grace time.Duration) (dir string, took time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	c, _, _ := sh(script)
	c.Dir, c.Grace = t.TempDir(), grace
	c.Marks = []string{"PFLOW_RUN_ID=r-of-this-test", "PFLOW_NODE_ID=n"}
	c.Env = append(c.Env, c.Marks...)
	var began time.Time
	c.Stdout = writerFunc(func([]byte) { began = time.Now(); cancel(why) })
	if _, err := Run(ctx, c); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	return c.Dir, time.Since(began)
}

// Two processes in groups of their own that ignore SIGTERM are ended within one grace.
func TestWhatLeftTheGroupIsEndedWithIt(t *testing.T) {
	const grace = 500 * time.Millisecond
	_, took := stopped(t, `trap "" TERM; env -i setsid sh -c 'echo $$ > one; sleep 100; true' & (setsid sh -c 'echo $$ > two; sleep 100; true' >/dev/null &)
		while ! [ -s one ] || ! [ -s two ]; do :; done; echo ready; while :; do wait; done`, grace)
	if left := marked(table(), []string{"PFLOW_RUN_ID=r-of-this-test"}); len(left) > 0 || took < grace {
		t.Errorf("%v are left after %s", left, took)
	}
	if left, _ := descendants(table(), os.Getpid()); len(killable(left, nil)) > 0 {
		t.Errorf("%v are left", left)
	}
}

// A descendant without any trace of its descent is attributed to the only child there is.
func TestOrphansOfTheSoleChildAreEndedWithIt(t *testing.T) {
	AdoptOrphans()
	const script = `(env -i setsid sh -c 'trap "" TERM; echo $$ > one; sleep 100; true' >/dev/null 2>&1 &)
		(env -i PFLOW_DETACHED=1 setsid sh -c 'echo $$ > two; sleep 100; true' >/dev/null 2>&1 &)
		while ! [ -s one ] || ! [ -s two ]; do :; done; echo ready; sleep 100; true`
	for name, accompanied := range map[string]bool{"alone": false, "with another": true} {
		t.Run(name, func(t *testing.T) {
			if accompanied {
				other, err := Start(Command{Path: "/bin/sleep", Args: []string{"100"}})
				if err != nil {
					t.Fatal(err)
				}
				defer other.Stop(0)
			}
			dir, _ := stopped(t, script, 100*time.Millisecond)
			for file, left := range map[string]bool{"one": accompanied, "two": true} {
				text, err := os.ReadFile(filepath.Join(dir, file))
				pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
				if err != nil || alive(pid) != left {
					t.Errorf("%s is left: %v, not %v; %v", file, alive(pid), left, err)
				}
				_ = syscall.Kill(-pid, syscall.SIGKILL) // the leader of a group
			}
		})
	}
}

// Each process receives SIGTERM once: many programs end at once at the second.
func TestEachIsToldOnce(t *testing.T) {
	dir, _ := stopped(t, `sh -c 'trap "echo heard >> heard" TERM; echo ready; while :; do sleep 0.01; done' & exec sleep 100`, drainTime+2*time.Second)
	if heard, err := os.ReadFile(filepath.Join(dir, "heard")); err != nil || string(heard) != "heard\n" {
		t.Errorf("%q %v", heard, err)
	}
}

func TestAProcessOfAnotherUserIsNotWaitedFor(t *testing.T) {
	var asked int
	find := func() ([]procInfo, bool) { asked++; return []procInfo{{instance: instance{pid: 1}}}, true }
	if os.Getuid() == 0 || !errors.Is(syscall.Kill(1, 0), syscall.EPERM) {
		t.Skip("every process may be signalled here")
	}
	takeDown(time.Now().Add(DefaultGrace), find, nil)
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

func TestOrphansThatHaveEndedAreCollected(t *testing.T) {
	AdoptOrphans()
	ended := func() (n int) {
		for _, p := range table() {
			if p.ended && p.parent == os.Getpid() {
				n++
			}
		}
		return n
	}
	c, _, _ := sh("setsid -f true; setsid -f true")
	for deadline := time.Now().Add(patience); ended() == 0; { // they may end after their parent
		if _, err := Run(t.Context(), c); err != nil || time.Now().After(deadline) {
			t.Fatalf("no orphan was adopted: %v", err)
		}
	}
	for deadline := time.Now().Add(patience); ended() > 0; {
		lastCollected.Store(0)
		c, _, _ := sh("exit 3")
		if exit, err := Run(t.Context(), c); err != nil || exit.Code != 3 || time.Now().After(deadline) {
			t.Fatalf("%d orphans that have ended are left: %+v %v", ended(), exit, err)
		}
	}
}

// A failure to make a pipe leaves no descriptor in childIO that could belong to another file.
func TestWithoutDescriptorsNoOtherIsClosed(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	held, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	var f childIO
	low := unix.Rlimit{Cur: 0, Max: limit.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	failed := f.open(&Command{})
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if f.close(); failed == nil || !slices.Equal(f.output, []int{noFD, noFD}) {
		t.Errorf("%v, %v", failed, f.output)
	}
}

// A process that has left the group and holds the output is ended with the child, unless it outlives this program.
func TestWhoHoldsTheOutputIsEnded(t *testing.T) {
	c, _, _ := sh("setsid sleep 100 & echo $! > one; PFLOW_DETACHED=1 setsid sleep 100 & echo $! > two")
	c.Dir, c.Marks = t.TempDir(), []string{"PFLOW_RUN_ID=" + t.Name()}
	c.Env = append(c.Env, c.Marks...)
	if exit, err := Run(t.Context(), c); err != nil || exit.Code != 0 {
		t.Fatal(exit, err)
	}
	for file, left := range map[string]bool{"one": false, "two": true} {
		text, err := os.ReadFile(filepath.Join(c.Dir, file))
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || alive(pid) != left {
			t.Errorf("%s is left: %v, not %v; %v", file, alive(pid), left, err)
		}
		if left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
