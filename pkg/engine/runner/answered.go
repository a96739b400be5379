package runner

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// checkAnswered returns a fault if a run to attach to was given another answer than the request has.
func (r *Request) checkAnswered(rec *journal.Reader) error {
	if r.Answer == "" && len(r.Answers) == 0 {
		return nil
	}
	file, err := rec.Open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return fault.From(err)
	}
	run, err := engine.ReadCheckpoint(io.NewSectionReader(file, 0, info.Size()), rec.Blob)
	if err != nil {
		return nil //nolint:nilerr // a damaged run has no answers to compare
	}
	return r.checkSameAnswers(rec.ID, run.Answers())
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
		if engine.GenericPath(asked) == path || asked == engine.GenericPath(path) {
			found = append(found, answers[asked])
		}
	}
	return found
}

// hasAnswer reports whether an answer is among others, as far as they show no secret.
func hasAnswer(answers []string, given string) bool {
	return slices.ContainsFunc(answers, func(has string) bool { return has == given || strings.Contains(has, redact.Mark) })
}

func (r *Request) answeredBefore(run, path, had, given string) error {
	return r.suggestAnew(fault.New(fault.Usage, "The question of node %s was answered %q in run %s, so it cannot be answered %q", path, had, run, given).
		SuggestCommand("To go on with that answer, leave out --approve").
		SuggestTool("%s and without answers, to go on with that answer", journal.ResumeCall(run, "")))
}
