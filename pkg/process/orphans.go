package process

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// adoptsOrphans is set if orphans become children of this program.
var adoptsOrphans atomic.Bool

// lastCollected is the time at which orphans were last reaped, in nanoseconds since 1970.
var lastCollected atomic.Int64

// collectInterval is the least time between two times at which orphans are reaped.
const collectInterval = time.Second

// collectOrphans reaps the adopted orphans that have ended, at most once per collectInterval. Without it a run of many nodes
// whose daemons end would fill the process table with zombies. Children that this program has started are reaped by whoever
// waits for them.
func collectOrphans() {
	last, now := lastCollected.Load(), time.Now().UnixNano()
	if adoptsOrphans.Load() && now-last >= int64(collectInterval) && lastCollected.CompareAndSwap(last, now) {
		collectFrom(table())
	}
}

// collectFrom reaps the orphans in a table that have ended.
func collectFrom(all map[int]procInfo) {
	starting.Lock() // now groups holds every child that may be in the table
	defer starting.Unlock()
	for _, p := range all {
		if _, ours := groups.Load(p.pid); p.ended && !ours && p.parent == os.Getpid() {
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
		}
	}
}
