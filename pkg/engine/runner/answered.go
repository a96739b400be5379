package runner

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// checkAnswered returns a fault if a run to attach to was given another answer than the request has, or if it is live and was given
// none: it takes no answers before it has asked.
func (r *Request) checkAnswered(rec *journal.Reader, live bool) error {
	if r.Answer == "" && len(r.Answers) == 0 {
		return nil
	}
	run, err := memoryOf(rec)
	if err != nil {
		return nil //nolint:nilerr // a damaged run has no answers to compare
	}
	answers := run.Answers()
	if err := r.checkSameAnswers(rec.ID, answers); err != nil || !live {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(r.Answers)) {
		if len(answersTo(path, answers)) == 0 {
			f := fault.New(fault.Conflict, "Node %s of run %s has not asked yet, so it cannot be answered", path, rec.ID)
			f.Node = path
			return answerLater(f, rec)
		}
	}
	if r.Answer != "" && len(answers) == 0 {
		return answerLater(fault.New(fault.Conflict, "Run %s has not asked yet, so it cannot be answered", rec.ID), rec)
	}
	return nil
}

// answersOpen reports whether the request has an answer to a question that the run to go on from left open.
func (l once) answersOpen() bool {
	for _, path := range l.from.Open() {
		_, given := l.request.Answers[path]
		_, generic := l.request.Answers[event.GenericPath(path)]
		if given || generic || l.request.Answer != "" {
			return true
		}
	}
	return false
}

// answerLater adds to a fault how to wait until a live run asks.
func answerLater(f *fault.Fault, rec *journal.Reader) *fault.Fault {
	f.Retryable = true
	return f.Suggest("Answer when it has paused with its questions").Then(fault.Step{Do: fault.DoWait, Run: rec.ID})
}

// checkTaken returns a fault if the run to go on from has another answer to a question that is not asked again.
func (l once) checkTaken(ctx context.Context) error {
	if l.from == nil || len(l.request.Answers) == 0 {
		return nil
	}
	preview, err := engine.DryRun(ctx, l.config(""))
	if err != nil {
		return l.redactor.Fault(fault.From(err))
	}
	return l.request.checkSameAnswers(l.from.Run, preview.Answers)
}

// checkSameAnswers returns a fault if a run was given another answer than the request has. Its answers are by the paths of their
// nodes.
func (r *Request) checkSameAnswers(run string, answers map[string]string) error {
	for _, path := range slices.Sorted(maps.Keys(r.Answers)) {
		given := r.Answers[path].Text
		if got := answersTo(path, answers); len(got) > 0 && !hasAnswer(got, given) {
			return r.answeredBefore(run, path, got[0], given)
		}
	}
	if all := slices.Sorted(maps.Keys(answers)); r.Answer != "" && len(all) > 0 && !hasAnswer(slices.Collect(maps.Values(answers)), r.Answer) {
		return r.answeredBefore(run, all[0], answers[all[0]], r.Answer)
	}
	return nil
}

// answersTo returns the answers to the question about a node. A path without the numbers of items and iterations stands for all of
// them.
func answersTo(path string, answers map[string]string) (found []string) {
	if answer, ok := answers[path]; ok {
		return []string{answer}
	}
	for _, asked := range slices.Sorted(maps.Keys(answers)) {
		if event.GenericPath(asked) == path || asked == event.GenericPath(path) {
			found = append(found, answers[asked])
		}
	}
	return found
}

// hasAnswer reports whether an answer is among others, as far as they show no secret.
func hasAnswer(answers []string, given string) bool {
	return slices.ContainsFunc(answers, func(has string) bool {
		return has == given || strings.Contains(has, redact.Mark) || rawjson.Equal(has, given)
	})
}

func (r *Request) answeredBefore(run, path, had, given string) error {
	return r.suggestAnew(fault.New(fault.Usage, "The question of node %s was answered %q in run %s, so it cannot be answered %q", path, had, run, given).
		Suggest("To go on with that answer, leave out the answer"))
}
