package mcpclient

import (
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	megabyte = 1_000_000
	// memoryNotice is the resident memory of a server, in bytes, from which one line is logged at level info.
	memoryNotice = 100 * megabyte
	// memoryDelay is the time from the start of a server to the first check. A discovery takes less.
	memoryDelay = 250 * time.Millisecond
	// memoryPause is the time between two checks.
	memoryPause = 2 * time.Second
)

// watchMemory checks the resident memory of the server's process group until the server ends. If it exceeds the limit, in
// megabytes, the session ends with a fault. A limit of 0 means no limit. An address-space limit would be simpler, but
// programs such as Node hang under one.
func (s *Session) watchMemory(limit int) {
	next := time.NewTimer(memoryDelay)
	defer next.Stop()
	warned := false
	for {
		select {
		case <-next.C:
			next.Reset(memoryPause)
		case <-s.child.Ended():
			return
		}
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
	}
}

// Memory returns the resident memory of a stdio server's processes, in megabytes of 1,000,000 bytes; 0 if it is not known.
func (s *Session) Memory() int {
	if s.child == nil {
		return 0
	}
	used, _ := residentMemory(s.child.Pid())
	return int(used / megabyte)
}
