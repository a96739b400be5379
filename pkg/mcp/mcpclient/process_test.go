package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	until(t, "process "+strconv.Itoa(pid)+" ended", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) })
}

// zombie reports whether a process has ended but was not waited for by the process that adopted it.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}

func TestNoiseIsWarnedOfOnce(t *testing.T) {
	var log bytes.Buffer
	spec := fakeSpec(t, "banner")
	spec.Log = slog.New(slog.NewTextHandler(&log, nil))
	s, err := Connect(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Call(t.Context(), "noise", nil, nil); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if got := log.String(); strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, "Welcome to the fake server!") {
		t.Errorf("log:\n%s", got)
	}
}

func TestStandardErrorIsLogged(t *testing.T) {
	read, write := io.Pipe()
	spec := fakeSpec(t, "plain")
	spec.Log = slog.New(slog.NewTextHandler(write, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := Connect(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	go func() { _, _ = s.Call(t.Context(), "exit", nil, nil) }()
	for lines := bufio.NewScanner(read); lines.Scan(); {
		if strings.Contains(lines.Text(), `server=fake line="panic: out of cheese"`) {
			go func() { _, _ = io.Copy(io.Discard, read) }()
			return
		}
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	t.Run("grandchild", func(t *testing.T) {
		t.Parallel()
		spec := fakeSpec(t, "grandchild")
		file := filepath.Join(t.TempDir(), "pid")
		spec.Server.Env["PID_FILE"] = file
		s, err := Connect(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(string(text))
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		gone(t, pid)
		gone(t, s.child.Pid())
	})
	t.Run("stubborn", func(t *testing.T) {
		t.Parallel()
		s := connect(t, "stubborn")
		s.Close()
		gone(t, s.child.Pid())
		s.Close()
	})
	t.Run("call in flight", func(t *testing.T) {
		t.Parallel()
		s := connect(t, "sdk")
		inFlight, waiting := make(chan error, 1), make(chan struct{})
		go func() {
			_, err := s.Call(context.Background(), "wait", nil, func(float64, float64, string) { close(waiting) })
			inFlight <- err
		}()
		<-waiting
		s.Close()
		if err := <-inFlight; err == nil {
			t.Error("the call succeeded")
		}
		gone(t, s.child.Pid())
	})
}

func TestEnvironmentOfAServer(t *testing.T) {
	spec := fakeSpec(t, "plain")
	spec.Env = append(spec.Env, "NODE_EXTRA_CA_CERTS=/ca.pem", "TOKEN=outer", "OTHER=x")
	spec.Server.Env["TOKEN"] = ""
	s, err := Connect(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	answer, err := s.Call(t.Context(), "env", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	if err := json.Unmarshal(answer.Result(nil), &env); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(env, "TOKEN=") || slices.Contains(env, "TOKEN=outer") || slices.Contains(env, "OTHER=x") || !slices.Contains(env, "NODE_EXTRA_CA_CERTS=/ca.pem") {
		t.Errorf("environment is %q", env)
	}
}

func TestMemoryLimit(t *testing.T) {
	if _, ok := residentMemory(syscall.Getpgrp()); !ok {
		t.Skip("the resident memory is not known on this system")
	}
	spec := fakeSpec(t, "plain")
	spec.Server.MaxMemory = 1
	s, err := Connect(t.Context(), spec)
	if err == nil {
		defer s.Close()
		_, err = s.Call(t.Context(), "hang", nil, nil)
	}
	if f := asFault(t, err); !strings.Contains(f.Message, "its max_memory is 1 MB") {
		t.Errorf("fault is %q", f.Message)
	}
}

// TestTheDeadlineOfANodeStopsAServer ends a call by the deadline of its context: the session is of no use for the next call at once.
func TestTheDeadlineOfANodeStopsAServer(t *testing.T) {
	s := connect(t, "plain")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second/20)
	defer cancel()
	if _, err := s.Do(ctx, Request{Tool: "hang", Limit: time.Hour}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Do: %v", err)
	}
	if !s.Dead() {
		t.Error("the next call would wait for the server")
	}
	gone(t, s.child.Pid())
}
