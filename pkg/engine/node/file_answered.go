package node

import (
	"context"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
)

// answered returns a function that does what run does, and gives up when its context has ended and the file system does not answer: a hung
// mount, for example. What run waits for goes on in the background, at most to the end of the program.
func answered(run func(context.Context, *Call, *Task) *Result) func(context.Context, *Call, *Task) *Result {
	return func(ctx context.Context, p *Call, t *Task) *Result {
		late, end := input.Late(ctx)
		defer end()
		r, err := input.Wait(late, func() (*Result, error) { return run(ctx, p, t), nil }, func(*Result) {})
		if err != nil {
			return failed(fault.From(err), nil)
		}
		return r
	}
}
