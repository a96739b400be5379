package suite

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// In a container the first process often does not reap orphans, which stay as zombies. They must not delay a run by the
// grace of five seconds.
func TestOrphansThatHaveEndedAreNotWaitedFor(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil { // makes this test such a process
		t.Skipf("this process cannot adopt orphans: %v", err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	for name, c := range map[string]struct {
		command, timeout string
		exit             int
	}{
		"after a node that succeeds": {"(true &) ; echo done", "60s", 0},
		"after a timeout":            {"cat gate; true", "0.1s", 124},
	} {
		p := newPlace(t)
		_ = p.gate("gate")
		p.write("w.json", chain(c.command))
		p.eventually(name+" a run takes less than the grace", func() bool { // on a busy machine it may take longer for other reasons
			began := time.Now()
			o := p.run("pflow-exec", "run", "w.json", "--timeout", c.timeout)
			if o.exit != c.exit {
				t.Fatalf("%s the exit status is %d, want %d: %s", name, o.exit, c.exit, o)
			}
			return time.Since(began) < 4*time.Second
		})
	}
}
