package engine

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// execution is one run: it begins it, waits for its nodes, and ends it. What happens to the nodes is the work of its parts:
// the scheduler says when, the starter begins a step and the settler ends it, the reuser takes what the checkpoint has.
type execution struct {
	// root is the frame of the run's workflow, top the one that is executed: root, or the frame of the only node.
	root, top *frame
	// only is set if a single node is executed.
	only  *only
	clock *clock
	began time.Time

	sched     *scheduler
	starter   *starter
	approvals *approvals
	questions *questions
	refresher *refresher
	binder    *binder

	store    *store
	rec      *recorder
	stop     *stopState
	warnings *warnings
	counts   *counts
	spending *spending

	started event.Workflow
	from    *resume.Memory
	again   *event.Again
	// resumedFrom and firstRun are the run that this one resumes and the first of its chain, or empty.
	resumedFrom, firstRun string
	dir                   string
	span                  trace.Span
	runID                 string
	timeout               time.Duration
	// admit waits until the run may begin, and sets its time limit.
	admit  func() error
	resume fault.Step
	// workflows are the sub-workflows that run_started records.
	workflows []event.Workflow
	given     []string
	origins   map[string]string
	onReused  func() error
	onStopped func()
}

// counts is what run_finished reports in numbers.
type counts struct {
	executed, reused int
	usage            *event.Usage
}

// newExecution puts the parts of a run together. stop cancels ctx.
func newExecution(ctx context.Context, stop context.CancelCauseFunc, c Config, top *frame) *execution {
	top.stoppable(ctx)
	top.recalls, top.runsOn = c.From != nil, c.Workflow.RunsOn
	clock, random, execute := newClock(&c), c.Rand, c.Execute
	if random == nil {
		random = rand.Uint64
	}
	if execute == nil {
		execute = Local(c.Host)
	}
	var (
		store     = &store{journal: c.Journal, redactor: c.Redactor, private: privates{newScratch: c.Journal.NewScratch}}
		output    = newOutputLimit(c.Workflow.Runtime)
		rec       = &recorder{journal: c.Journal, cancelRun: stop}
		stopping  = &stopState{ctx: ctx, rec: rec, keepGoing: c.KeepGoing, onFailure: c.StopOnFailure}
		counts    = &counts{}
		spending  = &spending{budget: c.Budget, clock: clock}
		warnings  = &warnings{seen: map[string]bool{}}
		digests   = &digester{redactor: c.Redactor, workflows: map[*flow.Flow]string{}, oldKeys: c.From != nil && c.From.Started.KeyVersion == 0}
		binder    = &binder{store: store, digests: digests, load: c.Load, log: c.Log}
		batches   = &batches{binder: binder, digests: digests, store: store, warnings: warnings}
		cache     = &outputCache{cache: c.Cache, ignored: c.NoCache, clock: clock, from: c.From, only: c.Only, runID: c.RunID, dir: c.Host.Dir, store: store, output: output, log: c.Log}
		questions = &questions{open: map[*nodeRun]bool{}}
		sched     = &scheduler{jobs: c.Jobs, rec: rec, stop: stopping, clock: clock}
		refresher = &refresher{sched: sched, rec: rec, binder: binder}
		children  = &children{binder: binder, store: store, stop: stopping, clock: clock, from: c.From, refresher: refresher, described: map[string]bool{}}
		adopter   = &adopter{from: c.From, copyBlob: c.Adopt, taken: map[string]bool{}, batches: batches, store: store, output: output, rec: rec, warnings: warnings, cache: cache, log: c.Log}
		attempts  = &attempts{runID: c.RunID, firstRun: c.RunID, from: c.From, runCtx: ctx, dir: c.Host.Dir, env: c.Host.Env, execute: execute, store: store, output: output, spending: spending, runners: c.Runners, clock: clock, log: c.Log}
		settler   = &settler{
			sched: sched, rec: rec, store: store, stop: stopping, counts: counts, warnings: warnings,
			spending: spending, binder: binder, cache: cache, children: children, questions: questions, refresher: refresher,
			clock: clock, random: random,
		}
		approvals = &approvals{
			from: c.From, answer: c.Answer, byPerson: c.ByPerson, marked: c.Marked, answers: c.Answers, answeredOnce: map[string]bool{}, askPerson: c.Ask, questions: questions,
			sched: sched, settler: settler, rec: rec, store: store, stop: stopping, warnings: warnings, binder: binder, digests: digests,
		}
		starter = &starter{
			sched: sched, settler: settler, rec: rec, stop: stopping, counts: counts, warnings: warnings, binder: binder,
			approvals: approvals, batches: batches, cache: cache, children: children, refresher: refresher, adopter: adopter,
			span: c.Span, clock: clock, random: random,
		}
		reuser = &reuser{
			adopter: adopter, starter: starter, settler: settler, rec: rec, stop: stopping, counts: counts, warnings: warnings,
			binder: binder, approvals: approvals, batches: batches, refresher: refresher,
		}
	)
	settler.ask = approvals.ask
	carrier := &carrier{adopter: adopter, rec: rec, begun: map[string]bool{}}
	sched.entered, sched.carry = func(fr *frame) { carrier.begun[fr.prefix] = true }, carrier.carry
	sched.begin, sched.drop, sched.execute, sched.finish, sched.reuse = starter.begin, settler.drop, attempts.run, settler.finish, reuser.reuse
	e := &execution{
		root: top, top: top, clock: clock, sched: sched, starter: starter, approvals: approvals, questions: questions, refresher: refresher, binder: binder,
		store: store, rec: rec, stop: stopping, warnings: warnings, counts: counts, spending: spending,
		started: c.Started, dir: c.Host.Dir, span: c.Span, runID: c.RunID, timeout: c.Timeout, resume: c.Resume, workflows: c.Workflows, given: c.Given, origins: c.Origins,
		onReused: c.Reused, onStopped: c.Stopped, from: c.From, again: c.Again,
	}
	if c.Only != "" && c.From != nil {
		e.only = &only{
			path: c.Only, from: c.From, starter: starter, adopter: adopter, binder: binder, batches: batches, children: children,
			refresher: refresher, warnings: warnings,
		}
	}
	if c.From != nil {
		e.resumedFrom, e.firstRun = c.From.Run, c.From.FirstRun()
		attempts.firstRun = e.firstRun
		spending.before = c.From.Spent()
	}
	return e
}

// run executes the run and returns its last event.
func (e *execution) run() (*event.Event, error) {
	if err := e.announce(); err != nil {
		return nil, err
	}
	if err := e.admit(); err != nil {
		return nil, err
	}
	e.began = e.clock.now()
	if e.only != nil {
		e.counts.reused += e.only.carry(e.rec)
	}
	e.sched.run(e.top, e.onReused)
	if e.top.cancel != nil {
		e.top.cancel()
	}
	if e.onStopped != nil && (e.stop.interrupted || e.rec.journalErr != nil || e.stop.ctx.Err() != nil) {
		e.onStopped()
	}
	if e.rec.journalErr != nil {
		return nil, e.rec.journalErr
	}
	return e.conclude()
}

// announce writes run_started.
func (e *execution) announce() error {
	inputs, err := rawjson.Marshal(e.root.inputs)
	if err != nil {
		return fault.From(err)
	}
	kept, _, err := e.store.keep(event.Escape(inputs))
	if err != nil {
		return err
	}
	started := e.started
	if started.Definition, _, err = e.store.keep(event.Escape(started.Definition)); err != nil {
		return err
	}
	workflows := slices.Clone(e.workflows)
	for i := range workflows { // of several with one digest, the first has the definition
		w := &workflows[i]
		if e.starter.children.described[w.Digest] {
			w.Definition = nil
			continue
		}
		e.starter.children.described[w.Digest] = true
		if w.Definition, _, err = e.store.keep(event.Escape(w.Definition)); err != nil {
			return err
		}
	}
	reruns, err := e.from.AllReruns()
	if err != nil {
		return fault.From(err)
	}
	if reruns != nil {
		if reruns, _, err = e.store.keep(event.Escape(reruns)); err != nil {
			return err
		}
	}
	keyVersion := keyVersion
	if e.binder.digests.oldKeys {
		keyVersion = 0
	}
	ev := &event.Event{
		Event: event.RunStarted, Workflow: &started, Workflows: workflows, Inputs: kept, Nodes: e.root.Workflow.NodeIDs(), Cwd: e.dir,
		TraceID: e.span.Trace, SpanID: e.span.ID, ParentSpanID: e.span.Parent, ResumedFrom: e.resumedFrom, Given: e.given, Origins: e.origins, FirstRun: e.firstRun,
		Again: e.again, Reruns: reruns, Answers: e.approvals.beforehand(), Denied: e.from.Denials(), KeyVersion: keyVersion, Budget: e.spending.budget,
	}
	switch {
	case e.stop.keepGoing:
		ev.OnFailure = "continue"
	case e.stop.onFailure:
		ev.OnFailure = workflow.StopOnFailure
	}
	if e.resumedFrom != "" {
		ev.Spent = &e.spending.before
	}
	if e.resumedFrom != "" {
		ev.ResumedTraceID, ev.ResumedSpanID = e.from.Started.TraceID, e.from.Started.SpanID
	}
	return e.rec.journal.Append(ev)
}
