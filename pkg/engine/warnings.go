package engine

import (
	"fmt"
	"slices"
)

// maxWarnings is how many warnings a run lists. It counts the others.
const maxWarnings = 50

// warnings collects what run_finished warns about.
type warnings struct {
	texts []string
	seen  map[string]bool
	// degraded reports whether something makes the run less than a full success.
	degraded bool
	// retryable reports whether a part of that was a failed item or a handled failure, which can be run again.
	retryable bool
}

// add adds a warning, once.
func (w *warnings) add(text string) {
	if !w.seen[text] {
		w.seen[text] = true
		w.texts = append(w.texts, text)
	}
}

// degrade notes why the run is not a full success. The reason is also noted in the attempt that it happened in, in its node
// and in the attempts around it, so that a later run which reuses their outputs is not a full success either. t is nil if
// it happened in no attempt.
func (w *warnings) degrade(t *task, why string) {
	w.degraded = true
	w.add(why)
	for ; t != nil; t = t.run.frame.owner {
		t.degradations = noteOnce(t.degradations, why)
		t.run.degradations = noteOnce(t.run.degradations, why)
	}
}

// degradeByFailure is like degrade for a failure that can be run again.
func (w *warnings) degradeByFailure(t *task, why string) {
	w.retryable = true
	w.degrade(t, why)
}

// degradeNode is like degrade for a reason that is about a node and not about one of its attempts.
func (w *warnings) degradeNode(nr *nodeRun, why string) {
	nr.degradations = noteOnce(nr.degradations, why)
	w.degrade(nr.frame.owner, why)
}

func noteOnce(reasons []string, why string) []string {
	if len(reasons) < maxWarnings && !slices.Contains(reasons, why) {
		reasons = append(reasons, why)
	}
	return reasons
}

// noteUnresolved notes the templates of a task that permissive mode left as they are written.
func (w *warnings) noteUnresolved(t *task) {
	for _, u := range t.bound.Unresolved {
		w.degrade(t, fmt.Sprintf("node %s: template %s not resolved: %s", t.run.path(), u.Expr, u.Reason))
	}
}
