package feed

import (
	"context"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// Rejoin is Follow for a run that may have begun, or even ended, before e: a command reads its events up to now. It follows the run
// further only if it is live.
func (r *Feed) Rejoin(ctx context.Context, e *Expected, run string, live bool, apply func(Event)) {
	var f *Follower
	if live { // before the past events are read, so that none is missed
		f = r.enlist(run, e)
		defer f.Leave()
	}
	to, ended := newOnce(apply), false
	_, err := r.suite.Run(ctx, suite.Command{ // one of the short ones, whose number is limited
		Program: "pflow-exec", Args: []string{"--quiet", "events", "--format=ndjson", "--", run},
		OnLine: func(text []byte) { ended = to.pass(parse(text)) || ended },
	})
	if err != nil && ctx.Err() == nil {
		r.suite.Log.Warn("the past events of a run cannot be read", "error", fault.From(err))
	}
	if live && !ended {
		f.show(ctx, to)
	}
}
