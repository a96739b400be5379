package runner

import (
	"context"
	"encoding/json"
	"io"
	"slices"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Launch is a request that has been found able to run. It holds locks until Release or Execute.
type Launch struct {
	// Attach is the id of a run that already does, or has done, what is asked for. It is empty if the launch can be
	// executed. A launch with Attach holds no locks.
	Attach string

	host     *Host
	request  *Request
	env      []string
	settings *settings.Settings
	redactor *redact.Redactor
	// awaitAbandoned waits until the processes of runs whose runner was killed have ended.
	awaitAbandoned func(context.Context)
	// releases undo what the launch holds, the last one first.
	releases []func()

	// top is the checked workflow. load reads and checks one that a node names by a template.
	top  flow.Flow
	load func(from *flow.Flow, ref string) (*flow.Flow, error)
	// subs are the sub-workflows that have a literal name.
	subs []event.Workflow
	// definition is the workflow's file as the run stores it, without secrets.
	definition json.RawMessage
	inputs     map[string]json.RawMessage
	// origins says where the value of each input is from, as the first event of the run does.
	origins map[string]string
	// given names the secret inputs whose values were given to the run.
	given []string
	// marked is set if the inputs that the run to go on from has not stored have the marks that stand for their secrets, because no node
	// will run.
	marked bool
	dir    string
	suite  string

	// read has the memories of earlier runs that were asked for, by the ids of the runs; nil stands for one that is gone.
	read map[string]*resume.Memory

	// file is the checkpoint file, or nil.
	file *journal.EventFile
	// events are those to go on from that were given as a file, or nil. The first whole bytes of them are whole events.
	events *io.SectionReader
	whole  int64

	// key is held so that no other process starts a run for it. It may be nil.
	key *journal.Key
	// from is the memory to go on from, and origin the run of this home that it belongs to. Either may be nil.
	from   *resume.Memory
	origin *journal.Reader
	// named is the id of the run that was asked for, which the origin may have gone on from.
	named string
	// fork is set if the memory's events are not those of the origin's journal: then the new run does not supersede it.
	fork bool
}

// Resolve checks everything that can be checked before a run: the workflow, its inputs, and the run to go on from. It
// takes the locks that the run needs, ends processes that killed runs have left, and writes nothing else. The caller ends
// the launch with Release or Execute.
func Resolve(ctx context.Context, host *Host, r *Request) (*Launch, error) {
	l := &Launch{host: host, request: r, env: append(slices.Clip(host.Env), r.Env...), awaitAbandoned: func(context.Context) {}}
	if !r.DryRun {
		l.awaitAbandoned = endAbandoned(host.Home)
	}
	err := l.resolve(ctx)
	if err != nil || l.Attach != "" {
		l.Release()
		l.awaitAbandoned(ctx)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Launch) resolve(ctx context.Context) (err error) {
	r := l.request
	if err := l.openEvents(ctx); err != nil {
		return err
	}
	if err := l.holdKey(ctx); err != nil || l.Attach != "" {
		return err
	}
	if err := l.holdOrigin(ctx); err != nil || l.Attach != "" {
		return err
	}
	if l.settings, err = settings.Load(l.host.Home); err != nil {
		return err
	}
	l.redactor = redact.For(l.settings.Env, l.env)
	l.addServerSecrets()
	read, err := l.openMemory()
	if err != nil {
		return err
	}
	checkErr := l.check()
	if err := read(); err != nil {
		return err
	}
	if checkErr != nil {
		return l.redactor.Fault(r.suggestAsItWas(fault.From(checkErr)))
	}
	if err := checkSame(l); err != nil {
		return err
	}
	if err := l.checkAnswers(); err != nil {
		return err
	}
	rerun := &again{launch: l}
	if err := rerun.take(); err != nil || l.Attach != "" {
		return err
	}
	missing := l.resolveInputs()
	if err := missing; err != nil {
		if len(r.Inputs) == 0 && (once{l}).repeats() && !(once{l}).answersOpen() { // its secret inputs are not given again, and not needed
			return l.attach(ctx, l.origin, false)
		}
		if l.marked = denies(l); !l.marked || l.resolveInputs() != nil {
			return l.redactor.Fault(fault.From(err))
		}
	}
	if err := l.resolveDir(); err != nil {
		return err
	}
	l.definition, _ = l.redactor.JSON(l.request.file.JSON()) // when all secrets are known
	reportChanges(l)
	if l.suite, err = l.host.Suite(); err != nil {
		return err
	}
	if err := rerun.checkReached(ctx); err != nil {
		return err
	}
	if l.marked {
		if denied, err := engine.DeniedAtOnce(ctx, l.config("")); err != nil || !denied {
			return l.redactor.Fault(fault.From(missing))
		}
	}
	same := once{l}
	if err := same.checkTaken(ctx); err != nil {
		return err
	}
	if err := same.attach(ctx); err != nil || l.Attach != "" {
		return err
	}
	return l.checkAround()
}

// Release lets go of everything that the launch holds. It may be called more than once.
func (l *Launch) Release() {
	for _, release := range slices.Backward(l.releases) {
		release()
	}
	l.releases = nil
}

// Workflow returns the checked workflow.
func (l *Launch) Workflow() *workflow.Workflow { return l.top.Workflow }
