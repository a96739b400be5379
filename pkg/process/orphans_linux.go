package process

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// AdoptOrphans makes this program, instead of the system's first process, the parent of its descendants whose own parent
// ends: the first process may reap them late or, in a container, never. Call it before the first child is started, in a
// program whose children do not outlive it. Children that exist already belong to what this process was before, such as a
// shell that replaced itself with this program; they are left alone. Further calls have no effect.
func AdoptOrphans() { adopt.Do(adoptOrphans) }

var adopt sync.Once

func adoptOrphans() {
	inherited = children()
	adoptsOrphans.Store(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil)
	lastCollected.Store(time.Now().UnixNano()) // there are no orphans yet
}
