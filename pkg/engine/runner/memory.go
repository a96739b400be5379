package runner

import (
	"runtime"
	"runtime/debug"
)

// Go collects garbage for the first time when the heap reaches 4 MiB times the percentage of GOGC: 4 MiB by default.
const (
	defaultGCPercent = 100
	firstGCPercent   = 400
)

// delayCollection puts off the first garbage collection until the heap has 16 MiB, which a short run does not reach. Its
// few processors are for the nodes' processes. After that collection the default applies again, so that the memory of a
// long run does not grow. It respects a GOGC that the user sets.
func delayCollection() {
	if before := debug.SetGCPercent(firstGCPercent); before != defaultGCPercent {
		debug.SetGCPercent(before)
		return
	}
	collected := new([32]byte) // too large for the allocator of tiny objects, which would keep it alive
	runtime.AddCleanup(collected, func(percent int) { debug.SetGCPercent(percent) }, defaultGCPercent)
}
