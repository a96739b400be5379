package engine

import (
	"math"
	"sync"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// defaultRunOutput is the most bytes that the nodes of a run may put out if its workflow has no runtime.max_output.
const defaultRunOutput = 2 << 30

// outputLimit counts what the nodes of a run put out, and refuses what exceeds runtime.max_output. Its methods may be called
// by several goroutines.
type outputLimit struct {
	// run is the limit of the run, stream that of one stream of a process. With runtime.max_output there is no other limit.
	run, stream int64

	mu   sync.Mutex
	used int64
	// reached is set once a node has failed because of the limit.
	reached bool
}

func newOutputLimit(r *workflow.Runtime) *outputLimit {
	if r == nil || r.MaxOutput == 0 {
		return &outputLimit{run: defaultRunOutput, stream: node.MaxOutput}
	}
	return &outputLimit{run: int64(r.MaxOutput), stream: math.MaxInt64}
}

// adopt counts outputs that are taken over from another run. It refuses nothing.
func (l *outputLimit) adopt(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used += int64(n)
}

// attempt returns the function with which an attempt counts its output: see node.Task.Count.
func (l *outputLimit) attempt() func(n int) (allowed int, f *fault.Fault) {
	own := int64(0)
	return func(n int) (allowed int, f *fault.Fault) {
		l.mu.Lock()
		defer l.mu.Unlock()
		allowed = int(min(int64(n), max(0, l.run-l.used)))
		switch {
		case allowed == n:
		case l.reached && own+int64(n) <= l.grace():
			allowed = n
		default:
			l.reached = true
			f = l.fault()
		}
		own += int64(allowed)
		l.used += int64(allowed)
		return allowed, f
	}
}

// grace returns how much an attempt may put out after the limit was reached, so that a node can handle the failure.
func (l *outputLimit) grace() int64 { return min(l.run/16, 64<<10) }

func (l *outputLimit) fault() *fault.Fault {
	f := fault.New(fault.TooLarge, "The nodes of this run have put out more than %s, its runtime.max_output; this one was stopped", rawjson.Bytes(l.run))
	f.Detail("setting", "runtime.max_output").Detail("limit", l.run)
	return f.Suggest(`Write large data to a file and pass its path on, or set a larger limit in the workflow: "runtime": {"max_output": "8GiB"}`)
}
