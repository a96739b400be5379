package mcpclient

import (
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	megabyte = 1_000_000
	// memoryNotice is the resident memory of a server, in bytes, from which one line is logged at level info.
	memoryNotice = 100 * megabyte
	// memoryPause is the time between two checks.
	memoryPause = 2 * time.Second
)

// watchMemory checks the resident memory of the server's process group until the server ends. If it exceeds the limit, in
// megabytes, the session ends with a fault. A limit of 0 means no limit. An address-space limit would be simpler, but
// programs such as Node hang under one.
func (s *Session) watchMemory(limit int) {
	tick := time.NewTicker(memoryPause)
	defer tick.Stop()
	warned := false
	for {
		used, known := residentMemory(s.child.Pid())
		if !known {
			return
		}
		if limit > 0 && used > int64(limit)*megabyte {
			s.cancelCalls(fault.New(fault.Execution, "MCP server %s was stopped: it used %d MB of memory, and its max_memory is %d MB", s.name, used/megabyte, limit).
				Suggest("Raise max_memory in its entry of %s", File))
			s.child.Stop(0)
			return
		}
		if used > memoryNotice && !warned {
			warned = true
			s.log.Info("MCP server uses much memory", "server", s.name, "megabytes", used/megabyte)
		}
		select {
		case <-tick.C:
		case <-s.child.Ended():
			return
		}
	}
}
