package jq

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	// memory is how many bytes a filter may take beside what its input takes when it is read, and share how many times the
	// length of its text that is.
	memory = 512 << 20
	share  = 20
	// watch is how often it is looked at.
	watch = 20 * time.Millisecond
)

// boundMemory ends a context when the process takes so many bytes more than it does. The language has no bound of its own:
// a list of infinitely many values would grow until the system stops the program. What nobody needs any more does not count.
func boundMemory(ctx context.Context, more int) (bounded context.Context, stop func()) {
	bounded, cancel := context.WithCancelCause(ctx)
	most := heapBytes() + int64(more)
	before := debug.SetMemoryLimit(most + most/4) // below that the collector takes its time
	go func() {
		tick := time.NewTicker(watch)
		defer tick.Stop()
		for {
			select {
			case <-bounded.Done():
				return
			case <-tick.C:
				if heapBytes() > most && heapInUse() > most {
					cancel(fault.New(fault.TooLarge, "The filter took more than %d MiB of memory", more>>20).
						Suggest("See whether it ends at all; else let it work on less at a time, or use a shell node: jq '…' FILE"))
					return
				}
			}
		}
	}()
	return bounded, func() {
		cancel(nil)
		debug.SetMemoryLimit(before)
	}
}

// heapInUse collects first what nobody needs any more.
func heapInUse() int64 {
	runtime.GC()
	return heapBytes()
}

func heapBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // no memory is that large
}
