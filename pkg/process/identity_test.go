package process

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"testing"
)

func TestOwnerIsAliveAsLongAsItsProcess(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this system does not provide start times")
	}
	self := Self()
	if alive, known := self.Alive(); !alive || !known || self.PID != os.Getpid() {
		t.Errorf("this process is %+v: alive %v, known %v", self, alive, known)
	}
	for name, other := range map[string]Identity{
		"an id that came again": {self.Machine, self.PID, self.Started + "1"},
		"an id of nobody":       {self.Machine, 1 << 30, self.Started},
	} {
		if alive, known := other.Alive(); alive || !known {
			t.Errorf("%s: alive %v, known %v", name, alive, known)
		}
	}
	for name, other := range map[string]Identity{
		"another machine":        {"elsewhere-0123456789ab", self.PID, self.Started},
		"a system without start": {self.Machine, self.PID, "0"},
	} {
		if _, known := other.Alive(); known {
			t.Errorf("%s is known", name)
		}
	}
}

func TestOwnerThatIsNotWaitedForIsDead(t *testing.T) {
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	start, _ := startTime(child.Process.Pid)
	if start == "" {
		t.Skip("this system does not provide start times")
	}
	owner := Identity{Machine: machine(), PID: child.Process.Pid, Started: start}
	if alive, _ := owner.Alive(); !alive {
		t.Error("a running child is reported dead")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for alive := true; alive; { // the kill takes a moment; the child has not been reaped yet
		alive, _ = owner.Alive()
	}
	_ = child.Wait()
	if alive, known := owner.Alive(); alive || !known {
		t.Errorf("a child that is gone: alive %v, known %v", alive, known)
	}
}

func TestMachineCanStandInAName(t *testing.T) {
	plain := regexp.MustCompile(`^[a-z0-9-]{14,40}$`)
	if !plain.MatchString(machine()) {
		t.Errorf("%q", machine())
	}
	for host, want := range map[string]string{"": "host", "Web_1.example.org": "web1", "日本": "host", "a-very-long-name-of-a-host-indeed": "a-very-long-name-of-a-ho"} {
		if got := plainHost(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}
