package suite

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/internal/fakeprograms"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// suiteOf returns the suite of a folder of programs.
func suiteOf(f *fakeprograms.Folder) *Programs {
	return &Programs{Dir: f.Dir, Env: f.Env(), Version: "1.0", Log: slog.New(slog.DiscardHandler)}
}

func TestFind(t *testing.T) {
	f := fakeprograms.New(t)
	s := suiteOf(f)
	path := t.TempDir()
	s.Env = append(s.Env, "PATH="+path)
	if _, err := s.find("pflow-lib"); err == nil || !strings.Contains(err.Error(), "pflow-lib") || fault.From(err).Type != fault.Unavailable {
		t.Errorf("a program that is nowhere: %v", err)
	}
	f.At(path, "pflow-lib", "1.0", "")
	if got, err := s.find("pflow-lib"); err != nil || got != filepath.Join(path, "pflow-lib") {
		t.Errorf("on PATH: %q, %v", got, err)
	}
	f.Program("pflow-lib", "")
	if got, err := s.find("pflow-lib"); err != nil || got != filepath.Join(f.Dir, "pflow-lib") {
		t.Errorf("beside: %q, %v", got, err)
	}
	if err := os.Chmod(filepath.Join(f.Dir, "pflow-lib"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.find("pflow-lib"); err != nil || got != filepath.Join(path, "pflow-lib") {
		t.Errorf("beside, but not to be executed: %q, %v", got, err)
	}
}

func TestRunGivesWhatAProgramGave(t *testing.T) {
	f := fakeprograms.New(t)
	s := suiteOf(f)
	f.Program("pflow-lib", `cat; echo why >&2; exit 3`)
	a, err := s.Run(t.Context(), Command{Program: "pflow-lib", Args: []string{"a b", "*"}, Stdin: []byte("fed\n\n")})
	if err != nil || string(a.Output) != "fed" || a.Exit != 3 || a.Stderr != "why\n" {
		t.Errorf("%+v, %v", a, err)
	}
	if got := f.Calls(); !slices.Equal(got, []string{"pflow-lib a b *"}) {
		t.Errorf("called %q", got)
	}
}

func TestAnotherVersionIsSaidOnce(t *testing.T) {
	f := fakeprograms.New(t)
	s := suiteOf(f)
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	f.Program("pflow-exec", "")
	f.At(f.Dir, "pflow-lib", "0.9", "")
	for range 3 {
		for _, program := range []string{"pflow-exec", "pflow-lib"} {
			if _, err := s.Run(t.Context(), Command{Program: program}); err != nil {
				t.Error(err)
			}
		}
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "program=pflow-lib version=0.9 want=1.0") {
		t.Errorf("said %q", got)
	}
}

// TestShortCommandsWaitForEachOther: as many as may run do, a further one waits until its context ends or one of them
// is done, and a long one does not wait.
func TestShortCommandsWaitForEachOther(t *testing.T) {
	f := fakeprograms.New(t)
	s := suiteOf(f)
	gate := filepath.Join(f.Dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	f.Program("pflow-lib", `read x < "$DIR/gate"; echo '{}'`)
	f.Program("pflow-exec", `echo '{}'`)
	if _, err := s.Run(t.Context(), Command{Program: "pflow-exec"}); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range MaxProcesses() {
		group.Go(func() {
			if a, err := s.Run(t.Context(), Command{Program: "pflow-lib"}); err != nil || a.Exit != 0 {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
	writer, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits until one of them reads
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Minute); len(s.slots) < MaxProcesses(); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not as many as may run do")
		}
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	further := make(chan error)
	go func() {
		_, err := s.Run(ctx, Command{Program: "pflow-exec", Args: []string{"further"}})
		further <- err
	}()
	if _, err := s.Run(t.Context(), Command{Program: "pflow-exec", Args: []string{"long"}, Long: true}); err != nil {
		t.Errorf("a long command: %v", err)
	}
	cancel(enough)
	if err := <-further; !errors.Is(err, enough) {
		t.Errorf("a further command: %v", err)
	}
	if slices.Contains(f.Calls(), "pflow-exec further") {
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

// TestReservedVariablesReachOneProgram holds that a variable which is reserved is in the environment of its program only.
func TestReservedVariablesReachOneProgram(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"pflow-a", "pflow-b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho \"${ONE-none} ${TWO-none} ${OTHER-none}\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := &Programs{Dir: dir, Env: []string{"PATH=/bin:/usr/bin", "ONE=1", "TWO=2", "OTHER=x"}, Log: slog.New(slog.DiscardHandler)}
	s.Reserve("ONE", "pflow-a")
	s.Reserve("TWO", "")
	s.Reserve("ABSENT", "pflow-a")
	for program, want := range map[string]string{"pflow-a": "1 none x", "pflow-b": "none none x"} {
		o, err := s.Run(t.Context(), Command{Program: program})
		if err != nil || string(o.Output) != want {
			t.Errorf("%s: %v %s", program, err, o.Output)
		}
	}
}
