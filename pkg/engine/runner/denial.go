package runner

import (
	"context"
	"slices"

	"github.com/pflow-suite/pflow/pkg/engine"
)

// denies reports whether the request's answers to the open questions of the run to go on from are all denials, which end the run.
func denies(l *Launch) bool {
	open := waiting(l.from)
	return len(open) > 0 && !slices.ContainsFunc(open, func(path string) bool {
		answer := l.request.Answer
		if given, ok := l.request.Answers[path]; ok {
			answer = given.Text
		}
		return !l.from.Denies(path, answer)
	})
}

// startsNodes reports whether the run may start a node before its answers end it.
func startsNodes(ctx context.Context, l *Launch) bool {
	preview, err := engine.DryRun(ctx, l.config(""))
	if err != nil {
		return true
	}
	settled := func(id string) bool {
		return preview.Would[id] == engine.WouldReuse || preview.Would[id] == engine.WouldSkip
	}
	return slices.ContainsFunc(preview.Order, func(id string) bool {
		waits := slices.ContainsFunc(preview.After[id], func(before string) bool { return !settled(before) })
		return preview.Would[id] == engine.WouldRun && !waits
	})
}
