package share

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/process/chain"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/share/store"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// startTime is how long pflow-exec may take to start a run. It is shorter than store.StartLimit, so that the job is still there.
const startTime = store.StartLimit / 2

// Started is the document of a run that was started.
type Started struct {
	JobID          string `json:"job_id"`
	Status         string `json:"status"`
	Message        string `json:"message"`
	NextAction     string `json:"next_action"`
	QuotaRemaining int    `json:"quota_remaining"`
	// RunID is for the server, which follows the run. Callers get the job's id only.
	RunID string `json:"run_id"`
}

// Start admits a run, starts it with the owner's keys, and returns its job. A run that could not be created is not counted. The run does
// not depend on this process.
//
// One transaction counts the run and makes the job. Then pflow-exec starts the run with an idempotency key that follows from the job's id. If this process
// is killed before it has recorded the run, the key leads from the job to the run later.
func (s *Service) Start(ctx context.Context, r Request) (Started, error) {
	file, err := s.runnable(ctx, r.Token)
	if err != nil {
		return Started{}, err
	}
	inputs, err := typed(file.Workflow, r.Inputs)
	if err != nil {
		return Started{}, err
	}
	env, err := s.environment(ctx)
	if err != nil {
		return Started{}, err
	}
	a, err := s.admit(ctx, r.Token, true)
	if err != nil {
		return Started{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTime) // what is counted is started
	defer cancel()
	run, err := s.exec(ctx, a, env, inputs)
	if err != nil {
		return Started{}, err
	}
	_ = s.Store.SetRun(ctx, a, run) // otherwise its key leads to it, as after a kill
	return Started{
		JobID: a.Job, Status: "started", NextAction: "call get_run_status", QuotaRemaining: a.Remaining, RunID: run,
		Message: fmt.Sprintf("Flow execution started. NEXT STEP: Call get_run_status with job_id %q to get results. Poll every 2-3 seconds until status is \"completed\" or \"failed\".", a.Job),
	}, nil
}

// typed converts texts to the declared types of a workflow's inputs, as one JSON object. Inputs without a text are left to pflow-exec, which
// looks for them in the environment, the settings and the defaults.
func typed(w *workflow.Workflow, texts map[string]string) (json.RawMessage, error) {
	given := make(map[string]workflow.Given, len(texts))
	for name, text := range texts {
		given[name] = workflow.Given{Text: text}
	}
	optional := workflow.Workflow{Inputs: make(map[string]workflow.Input, len(w.Inputs))}
	for name, in := range w.Inputs {
		in.Required, in.Default = new(bool), nil
		optional.Inputs[name] = in
	}
	values, err := optional.Resolve(given, workflow.Supply{})
	if err != nil {
		return nil, err
	}
	inputs := make(map[string]json.RawMessage, len(given))
	for name := range given {
		inputs[name] = values[name].JSON
	}
	return rawjson.Marshal(inputs)
}

// Admit counts a run of the token's workflow, which another program starts, if the limits allow it. If the database cannot be used,
// nothing is admitted.
func (s *Service) Admit(ctx context.Context, token string) (store.Admission, error) {
	if _, err := s.runnable(ctx, token); err != nil {
		return store.Admission{}, err
	}
	return s.admit(ctx, token, false)
}

// admit counts a run, with a job for it or without.
func (s *Service) admit(ctx context.Context, token string, job bool) (a store.Admission, err error) {
	if err = s.settle(ctx, store.StartLimit); err == nil {
		a, err = s.Store.Admit(ctx, token, job)
	}
	if f := fault.From(err); f == nil || f.Type == fault.RateLimited || f.Type == fault.NotFound {
		return a, err
	}
	return store.Admission{}, Unavailable(err)
}

// Unavailable returns the fault of limits that cannot be checked because of an error of the database. It keeps the end of a context.
func Unavailable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	f := fault.New(fault.Unavailable, "Rate limit check unavailable. Please try again.")
	f.Retryable, f.Errors = true, []*fault.Fault{fault.From(err)}
	return f
}

// runKey returns the idempotency key of a job's run. Other users can see it on the command line of pflow-exec, and it does not show them the
// job's id, which opens the job.
func runKey(job string) string {
	sum := sha256.Sum256([]byte(job))
	return "pflow-share " + hex.EncodeToString(sum[:])
}

// ofJob returns the id of the run that was created for a job, or "". settled is false while the run is being created.
func (s *Service) ofJob(job string) (run string, settled bool) {
	return reader.Open(s.Home).OfKey(runKey(job))
}

// exec starts the run of an admission and returns its id. If no run was created, it takes the admission back.
func (s *Service) exec(ctx context.Context, a store.Admission, env []string, inputs json.RawMessage) (run string, err error) {
	answer, err := s.begin(ctx, a, env, inputs)
	if answer.RunID != "" {
		return answer.RunID, nil
	}
	if id, _ := reader.Open(s.Home).AwaitKey(ctx, runKey(a.Job)); id != "" { // it started, and its answer was lost
		return id, nil
	}
	if _, notStarted := errors.AsType[*fault.Fault](err); notStarted || answer.Error != nil { // there is no run, and will be none
		if err := s.Store.Undo(ctx, a.ID); err != nil {
			return "", err
		}
	}
	switch { // in other cases a run may still begin, so Settle decides later
	case answer.Error != nil && answer.Error.Details[chain.Detail] != nil: // the caller is at fault, not the workflow
		return "", withoutSource(answer.Error)
	case answer.Error != nil && answer.Error.Type == fault.Validation && !strings.HasPrefix(answer.Error.Path, "inputs."):
		return "", s.inaccessible(answer.Error)
	case answer.Error != nil:
		return "", withoutSource(answer.Error)
	case err != nil:
		return "", err
	}
	return "", fault.New(fault.Protocol, "pflow-exec ended before it had answered whether the run has started")
}

// startAnswer is what pflow-exec start prints.
type startAnswer struct {
	RunID string       `json:"run_id"`
	Error *fault.Fault `json:"error"`
}

// maxAnswer is the most bytes of a startAnswer: more than the faults of a workflow have.
const maxAnswer = 16 << 20

// begin starts the process that executes the run of an admission, in a session of its own, and reads its answer. It is empty if the
// process ended without one. The process is the run: to start it by another one would cost as much as a short run does.
func (s *Service) begin(ctx context.Context, a store.Admission, env []string, inputs json.RawMessage) (answer startAnswer, err error) {
	path := filepath.Join(s.Dir, "pflow-exec")
	if !process.Executable(path) {
		path = "pflow-exec"
	}
	child, err := process.Start(process.Command{
		Path: path, Env: env, Session: true,
		Args: []string{
			"start", "--foreground", "--format=json", "--quiet", "--hints=" + string(s.Reader), "--name", "--inputs=-", "--keep-going",
			"--timeout=" + strconv.Itoa(int(RunLimit/time.Second)), "--idempotency-key=" + runKey(a.Job), "--", a.Share.Workflow,
		},
	})
	if err != nil {
		return startAnswer{}, err
	}
	stop := context.AfterFunc(ctx, child.Release)
	defer child.Release()
	_, _ = child.Stdin.Write(inputs) // a process that refuses to start need not read them
	_ = child.Stdin.Close()
	line, _ := bufio.NewReader(io.LimitReader(child.Stdout, maxAnswer)).ReadBytes('\n')
	if !stop() {
		return startAnswer{}, context.Cause(ctx)
	}
	_ = json.Unmarshal(line, &answer)
	return answer, nil
}

// withoutSource returns a fault without lines of the workflow's file, which are the owner's.
func withoutSource(f *fault.Fault) *fault.Fault {
	c := *f
	c.File, c.Line, c.Column, c.Details = "", 0, 0, maps.Clone(f.Details)
	delete(c.Details, "text")
	delete(c.Details, "mark")
	c.Errors = slices.Clone(f.Errors)
	for i, e := range c.Errors {
		c.Errors[i] = withoutSource(e)
	}
	return &c
}
