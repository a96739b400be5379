package runner

import (
	"context"
	"errors"
	"io"

	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// outlasts reports whether the process that holds a run cannot take what the request asks for, because the run has ended
// and only its servers and processes are being stopped, or because it asked a question that the request answers. Then the
// request goes on from the run when the process has let go of it.
func (r *Request) outlasts(rec *journal.Reader) (ending bool, asked string, err error) {
	if _, last, err := rec.FirstAndLast(); err != nil || last != nil && last.IsTerminal() {
		return err == nil, "", err
	}
	if r.Answer == "" && len(r.Answers) == 0 {
		return false, "", nil
	}
	run, err := memoryOf(rec)
	if err != nil {
		return false, "", nil //nolint:nilerr // a damaged run has no questions
	}
	for _, node := range run.Open() {
		_, answered := r.Answers[node]
		if answered || run.Accepts(node, r.Answer) {
			return false, node, nil
		}
	}
	return false, "", nil
}

// awaitEnd waits until the process that holds a run has let go of it, if the request outlasts that process. It returns false
// at once if the request does not. It returns a conflict after some time.
func (r *Request) awaitEnd(ctx context.Context, rec *journal.Reader) (waited bool, err error) {
	ending, asked, err := r.outlasts(rec)
	if err != nil || !ending && asked == "" {
		return false, err
	}
	soon, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	err = rec.AwaitRelease(soon)
	if !errors.Is(err, errPatience) {
		return true, err
	}
	f := fault.New(fault.Conflict, "Run %s has ended, but its process has not within %s", rec.ID, patience)
	if ending, _, _ := r.outlasts(rec); !ending {
		f = fault.New(fault.Conflict, "Run %s waits for an answer to node %s, but takes none while its other nodes run", rec.ID, asked)
		f.Node = asked
	}
	return true, f.Suggest("Try again when it has ended").Then(fault.Step{Do: fault.DoWait, Run: rec.ID})
}

// checkFollowed returns a fault if the request has an answer for a run that it was to follow, and which cannot take it.
func (r *Request) checkFollowed(rec *journal.Reader) error {
	if r.Answer == "" && len(r.Answers) == 0 {
		return nil
	}
	ending, asked, err := r.outlasts(rec)
	if err != nil || !ending && asked == "" {
		return err
	}
	return fault.New(fault.Conflict, "Run %s has just asked or ended, so the answer has not reached it", rec.ID).Suggest("Answer again")
}

// memoryOf reads what a run has recorded so far.
func memoryOf(rec *journal.Reader) (*resume.Memory, error) {
	file, err := rec.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, fault.From(err)
	}
	return resume.Read(io.NewSectionReader(file, 0, info.Size()), rec.Blob)
}
