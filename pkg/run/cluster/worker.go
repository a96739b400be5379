package cluster

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
)

// Worker executes the work of a queue.
type Worker struct {
	// Queue is the task queue.
	Queue string
	// Slots is how many attempts, and how many runs, are executed at the same time.
	Slots int
	// Drain is how long what runs may go on when the worker must end.
	Drain time.Duration
	// Suite is the folder of the suite's programs, and Env the environment that they get.
	Suite string
	Env   []string

	store *payload.Store
	log   *slog.Logger
	// heartbeat sends the details of a heartbeat of the activity with that token.
	heartbeat func(ctx context.Context, token []byte, details ...any) error
}

// closing is how long after the end of the drain what was stopped may take to end.
const closing = 15 * time.Second

// errDrained is the cause of work that is stopped because its worker must end.
var errDrained = fault.New(fault.Unavailable, "The worker was told to end")

// Work executes work until ctx ends. Then it takes no more, waits for what runs, and returns the cause.
func (c *Cluster) Work(ctx context.Context, w *Worker) error {
	if _, err := os.Stat(w.program("pflow-exec")); err != nil {
		return fault.New(fault.NotFound, "pflow-exec is not in the folder of this program").Suggest("Keep the programs of the suite in one folder")
	}
	w.store, w.log, w.heartbeat = c.store, c.log, c.client.RecordActivityHeartbeat
	fatal := make(chan error, 1)
	options := worker.Options{
		MaxConcurrentActivityExecutionSize: w.Slots, WorkerStopTimeout: w.Drain + closing, DisableRegistrationAliasing: true,
		OnFatalError: func(err error) {
			select {
			case fatal <- err:
			default:
			}
		},
	}
	attempts, err := c.started(ctx, func() worker.Worker {
		made := worker.New(c.client, w.Queue, options)
		made.RegisterWorkflowWithOptions(attemptWorkflow, workflow.RegisterOptions{Name: attemptWorkflowName})
		made.RegisterActivityWithOptions(w.attempt, activity.RegisterOptions{Name: attemptActivityName})
		made.RegisterWorkflowWithOptions(runWorkflow, workflow.RegisterOptions{Name: runWorkflowName})
		return made
	})
	if err != nil {
		return faultOf(err, "the work of the queue "+w.Queue)
	}
	runs, err := c.started(ctx, func() worker.Worker {
		made := worker.New(c.client, runsQueue(w.Queue), options)
		made.RegisterActivityWithOptions(w.run, activity.RegisterOptions{Name: runActivityName})
		return made
	})
	if err != nil {
		attempts.Stop()
		return faultOf(err, "the work of the queue "+w.Queue)
	}
	w.log.Info("The worker has started", "queue", w.Queue, "slots", w.Slots)
	select {
	case <-ctx.Done():
		err = context.Cause(ctx)
		w.log.Info("The worker drains", "for", w.Drain)
	case failed := <-fatal:
		err = faultOf(failed, "the work of the queue "+w.Queue)
	}
	var stopping sync.WaitGroup
	stopping.Go(runs.Stop)
	attempts.Stop()
	stopping.Wait()
	return err
}

// started makes a worker of the SDK and starts it. The SDK starts one only once, so each try makes another.
func (c *Cluster) started(ctx context.Context, create func() worker.Worker) (worker.Worker, error) {
	return retried(ctx, func() (worker.Worker, error) {
		made := create()
		return made, made.Start()
	})
}

// program returns the path of a program of the suite.
func (w *Worker) program(name string) string { return filepath.Join(w.Suite, name) }

// endWithDrain stops an activity when its worker has drained.
func (w *Worker) endWithDrain(ctx context.Context, stop context.CancelCauseFunc) {
	stopping := activity.GetWorkerStopChannel(ctx)
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-stopping:
		}
		timer := time.NewTimer(w.Drain)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
			stop(errDrained)
		}
	}()
}
