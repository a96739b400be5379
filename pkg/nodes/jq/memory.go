package jq

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	// baseMemory is the memory in bytes that a filter may take in addition to its parsed input.
	baseMemory = 512 << 20
	// inputFactor is the memory of parsed input, as a multiple of the length of its text.
	inputFactor = 20
	// watchInterval is the time between two measurements of the memory.
	watchInterval = 20 * time.Millisecond
)

// limitMemory cancels a context when the process takes more than the given number of bytes more than now. Garbage does not count.
// jq itself has no limit: a list of infinitely many values would grow until the system kills the program.
func limitMemory(ctx context.Context, more int) (limited context.Context, stop func()) {
	limited, cancel := context.WithCancelCause(ctx)
	most := heapBytes() + int64(more)
	before := debug.SetMemoryLimit(most + most/4) // beyond it the garbage collector works harder
	go func() {
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		for {
			select {
			case <-limited.Done():
				return
			case <-tick.C:
				if heapBytes() > most && heapInUse() > most {
					cancel(fault.New(fault.TooLarge, "The filter took more than %d MiB of memory", more>>20).
						Suggest("Check that the filter ends; otherwise process less at a time, or use a shell node: jq '…' FILE"))
					return
				}
			}
		}
	}()
	return limited, func() {
		cancel(nil)
		debug.SetMemoryLimit(before)
	}
}

// heapInUse returns the bytes in use after a garbage collection.
func heapInUse() int64 {
	runtime.GC()
	return heapBytes()
}

func heapBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // it fits: no memory is that large
}
