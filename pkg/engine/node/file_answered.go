package node

import (
	"context"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// patience is how long a node may go on after it was told to stop.
const patience = 2 * time.Second

// answered returns a function that does what run does, and gives up when its context has ended and the file system does not answer: a hung
// mount, for example. What run waits for goes on in the background, at most to the end of the program.
func answered(run func(context.Context, *Call, *Task) *Result) func(context.Context, *Call, *Task) *Result {
	return func(ctx context.Context, p *Call, t *Task) *Result {
		done := make(chan *Result, 1)
		go func() { done <- run(ctx, p, t) }()
		select {
		case r := <-done:
			return r
		case <-ctx.Done():
		}
		select {
		case r := <-done:
			return r
		case <-time.After(patience):
			return failed(fault.From(context.Cause(ctx)), nil)
		}
	}
}
