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
		began := time.Now()
		o := p.run("pflow-exec", "run", "w.json", "--timeout", c.timeout)
		if took := time.Since(began); took > 4*time.Second || o.exit != c.exit {
			t.Errorf("%s the run took %s: %s", name, took, o)
		}
	}
}
