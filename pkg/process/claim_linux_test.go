package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// markedSleep starts a process in a session of its own that has a mark, and returns a function that reports whether it has
// ended.
func markedSleep(t *testing.T, mark string) (ended func() bool) {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Env, cmd.SysProcAttr = append(os.Environ(), mark), &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return func() bool {
		p, ok := readProc(cmd.Process.Pid)
		return !ok || p.ended
	}
}

func TestAbandonedClaims(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "live")
	held, err := NewClaim(dir, "PFLOW_TEST_ID=held-0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	left, err := NewClaim(dir, "PFLOW_TEST_ID=left-0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	path := left.file.Name()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = left.file.Close() // as the kernel does when its program is killed
	copied := filepath.Join(dir, "PFLOW_TEST_ID=copy-0123456789abcdef")
	empty := filepath.Join(dir, "PFLOW_TEST_ID=none-0123456789abcdef")
	foreign := filepath.Join(dir, "USER=somebody-0123456789abcdef")
	for path, content := range map[string][]byte{copied: content, empty: nil, foreign: content} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	of := map[string]func() bool{}
	for _, path := range []string{held.file.Name(), path, copied, empty, foreign} {
		of[path] = markedSleep(t, filepath.Base(path))
	}
	var calls sync.WaitGroup
	for range 4 { // at the same time
		calls.Go(func() { EndAbandoned(dir, 5*time.Second)(t.Context()) })
	}
	calls.Wait()
	for p, ended := range of {
		if ended() != (p == path) {
			t.Errorf("%s: ended is %v", filepath.Base(p), !(p == path))
		}
		if _, err := os.Stat(p); (err == nil) != (p == held.file.Name() || p == foreign) {
			t.Errorf("%s: %v", filepath.Base(p), err)
		}
	}
	held.Release()
	if _, err := os.Stat(held.file.Name()); err == nil {
		t.Error("a released claim is left")
	}
	for _, mark := range []string{"PFLOW_TEST_ID=short", "TEST_ID=0123456789abcdef", "PFLOW_TEST_ID=0123456789abc/ef", "PFLOW_TEST_ID"} {
		if _, err := NewClaim(dir, mark); err == nil {
			t.Errorf("%s is no fault", mark)
		}
	}
}

// A claim is held from the moment at which NewClaim returns, even while other programs look for abandoned ones.
func TestANewClaimIsHeld(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "live")
	done := make(chan struct{})
	var sweeps sync.WaitGroup
	for range 2 {
		sweeps.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					EndAbandoned(dir, time.Second)(t.Context())
				}
			}
		})
	}
	for range 500 {
		c, err := NewClaim(dir, "PFLOW_TEST_ID=0123456789abcdef")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := claimID(c.file); err != nil {
			t.Fatal("the claim is not in its folder: ", err)
		}
		if f, _ := takeOver(c.file.Name()); f != nil {
			t.Fatal("the claim is not held")
		}
		c.Release()
	}
	close(done)
	sweeps.Wait()
}
