package mcpclient

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestPool(t *testing.T) {
	var starts atomic.Int32
	pool := NewPool(func(name string) (Spec, error) {
		if name != "fake" {
			_, err := Servers{}.Get(name)
			return Spec{}, err
		}
		starts.Add(1)
		return fakeSpec(t, "plain"), nil
	})
	defer pool.Close()

	var asking sync.WaitGroup
	sessions := make([]*Session, 8)
	for i := range sessions {
		asking.Go(func() {
			s, err := pool.Session(t.Context(), "fake")
			if err != nil {
				t.Errorf("Session: %v", err)
			}
			sessions[i] = s
		})
	}
	asking.Wait()
	if n := starts.Load(); n != 1 {
		t.Errorf("%d starts for askers at the same time", n)
	}
	for _, s := range sessions {
		if s == nil || s != sessions[0] {
			t.Fatal("the askers do not share one session")
		}
	}

	if _, err := sessions[0].Call(t.Context(), "exit", nil, nil); err == nil {
		t.Fatal("the server did not die")
	}
	again, err := pool.Session(t.Context(), "fake")
	if err != nil {
		t.Fatal(err)
	}
	if again == sessions[0] || starts.Load() != 2 {
		t.Error("a dead server was not started again")
	}
	if _, err := again.Call(t.Context(), "noise", nil, nil); err != nil {
		t.Errorf("Call: %v", err)
	}

	_, err = pool.Session(t.Context(), "nowhere")
	if f := asFault(t, err); f.Type != fault.NotFound || f.Message != "Server nowhere not configured" {
		t.Errorf("fault is %s %q", f.Type, f.Message)
	}

	pool.Close()
	if !errors.Is(syscall.Kill(-again.child.Pid(), 0), syscall.ESRCH) {
		t.Error("the server outlived its pool")
	}
	if _, err := pool.Session(t.Context(), "fake"); err == nil {
		t.Error("a closed pool starts servers")
	}
}

func TestPoolIsClosedDuringAStart(t *testing.T) {
	asked := make(chan struct{})
	pool := NewPool(func(string) (Spec, error) {
		close(asked)
		return fakeSpec(t, "silent"), nil
	})
	failed := make(chan error, 1)
	go func() {
		_, err := pool.Session(t.Context(), "fake")
		failed <- err
	}()
	<-asked
	pool.Close()
	if err := <-failed; err == nil {
		t.Error("there is a session with a silent server")
	}
}
