package suitetools

import (
	"runtime"
	"testing"
)

// TestCallsLeaveNothing: the memory that is in use after calls with long answers, failures and calls of unknown programs is that
// of before.
func TestCallsLeaveNothing(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-lib", `printf '{"a":"'; head -c 200000 /dev/zero | tr '\0' x; printf '"}'; head -c 100000 /dev/zero >&2; exit "${#2}"`)
	front := &Front{Suite: f.suite, Toolsets: everyToolset()}
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	round := func() {
		for _, call := range [][2]string{{"describe_workflow", `{"name":"w"}`}, {"browse_components", `{}`}, {"list_servers", `{}`}} {
			f.call(front, call[0], call[1])
		}
	}
	round()
	before := inUse()
	goroutines := runtime.NumGoroutine()
	for range 50 {
		round()
	}
	if after := inUse(); after > before+1<<20 {
		t.Errorf("%d bytes before, %d after", before, after)
	}
	if left := runtime.NumGoroutine(); left > goroutines {
		t.Errorf("%d goroutines before, %d after", goroutines, left)
	}
}
