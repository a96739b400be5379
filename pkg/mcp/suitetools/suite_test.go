package suitetools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestFind(t *testing.T) {
	f := newFakes(t)
	path := t.TempDir()
	f.suite.Env = append(f.suite.Env, "PATH="+path)
	if _, err := f.suite.find("pflow-lib"); err == nil || !strings.Contains(err.Error(), "pflow-lib") || fault.From(err).Type != fault.Unavailable {
		t.Errorf("a program that is nowhere: %v", err)
	}
	f.at(path, "pflow-lib", "1.0", "")
	if got, err := f.suite.find("pflow-lib"); err != nil || got != filepath.Join(path, "pflow-lib") {
		t.Errorf("on PATH: %q, %v", got, err)
	}
	f.program("pflow-lib", "")
	if got, err := f.suite.find("pflow-lib"); err != nil || got != filepath.Join(f.dir, "pflow-lib") {
		t.Errorf("beside: %q, %v", got, err)
	}
	if err := os.Chmod(filepath.Join(f.dir, "pflow-lib"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := f.suite.find("pflow-lib"); err != nil || got != filepath.Join(path, "pflow-lib") {
		t.Errorf("beside, but not to be executed: %q, %v", got, err)
	}
}

func TestRunGivesWhatAProgramGave(t *testing.T) {
	f := newFakes(t)
	f.program("pflow-lib", `cat; echo why >&2; exit 3`)
	a, err := f.suite.run(t.Context(), command{program: "pflow-lib", args: []string{"a b", "*"}, stdin: []byte("fed\n\n")})
	if err != nil || string(a.output) != "fed" || a.exit != 3 || a.stderr != "why\n" {
		t.Errorf("%+v, %v", a, err)
	}
	if got := f.calls(); !slices.Equal(got, []string{"pflow-lib a b *"}) {
		t.Errorf("called %q", got)
	}
}

func TestAnotherVersionIsSaidOnce(t *testing.T) {
	f := newFakes(t)
	f.program("pflow-exec", "")
	f.at(f.dir, "pflow-lib", "0.9", "")
	for range 3 {
		for _, program := range []string{"pflow-exec", "pflow-lib"} {
			if _, err := f.suite.run(t.Context(), command{program: program}); err != nil {
				t.Error(err)
			}
		}
	}
	if got := f.log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "program=pflow-lib version=0.9 want=1.0") {
		t.Errorf("said %q", got)
	}
}

// TestShortCommandsWaitForEachOther: as many as may run do, a further one waits until its context ends or one of them
// is done, and a long one does not wait.
func TestShortCommandsWaitForEachOther(t *testing.T) {
	f := newFakes(t)
	gate := filepath.Join(f.dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	f.program("pflow-lib", `read x < "$DIR/gate"; echo '{}'`)
	f.program("pflow-exec", `echo '{}'`)
	if _, err := f.suite.run(t.Context(), command{program: "pflow-exec"}); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range MaxProcesses() {
		group.Go(func() {
			if a, err := f.suite.run(t.Context(), command{program: "pflow-lib"}); err != nil || a.exit != 0 {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
	writer, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits until one of them reads
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); len(f.suite.slots) < MaxProcesses(); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not as many as may run do")
		}
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	further := make(chan error)
	go func() {
		_, err := f.suite.run(ctx, command{program: "pflow-exec", args: []string{"further"}})
		further <- err
	}()
	if _, err := f.suite.run(t.Context(), command{program: "pflow-exec", args: []string{"long"}, long: true}); err != nil {
		t.Errorf("a long command: %v", err)
	}
	cancel(enough)
	if err := <-further; !errors.Is(err, enough) {
		t.Errorf("a further command: %v", err)
	}
	if slices.Contains(f.calls(), "pflow-exec further") {
		t.Error("the further command was started")
	}
	if _, err := writer.WriteString(strings.Repeat("\n", MaxProcesses())); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	_ = writer.Close()
}

func TestLinesAreWhole(t *testing.T) {
	var got []string
	l := &lineWriter{onLine: func(line []byte) { got = append(got, string(line)) }}
	for _, part := range []string{"on", "e\ntwo\n", "", "\nth", "ree", "\nrest"} {
		if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if want := []string{"one", "two", "", "three"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
