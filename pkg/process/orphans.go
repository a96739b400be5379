package process

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// adopting says that orphans become children of this program.
var adopting atomic.Bool

// collected is when orphans were last looked for, in nanoseconds; collecting is how often they are.
var collected atomic.Int64

const collecting = time.Second

// collectOrphans waits now and then for the adopted orphans that have ended: a run of many nodes whose daemons end would
// fill the system's table of processes with them. The children of this program's own are left to those who wait for them.
func collectOrphans() {
	last, now := collected.Load(), time.Now().UnixNano()
	if adopting.Load() && now-last >= int64(collecting) && collected.CompareAndSwap(last, now) {
		collect(table())
	}
}

// collect waits for the orphans in a table that have ended.
func collect(all map[int]process) {
	starting.Lock() // from here on groups has every child that may be in the table
	defer starting.Unlock()
	for _, p := range all {
		if _, ours := groups.Load(p.pid); p.ended && !ours && p.parent == os.Getpid() {
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
		}
	}
}
