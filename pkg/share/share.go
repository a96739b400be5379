// Package share lets whoever has a link run a saved workflow at the expense of its owner: within limits, with the owner's API keys, and
// with a job as the only view of the run.
package share

import (
	"context"
	"time"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/share/store"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// The limits of one run.
const (
	// RunLimit is how long a run may take, and how long a question of a paused one may stay open.
	RunLimit = 5 * time.Minute
	// MaxOutput is the most bytes of all outputs of a run together.
	MaxOutput = 10_000_000
)

// Service shares the workflows of a home.
type Service struct {
	Home *home.Home
	// Store is nil if nothing was ever shared.
	Store *store.Store
	// Env is the environment of this program.
	Env []string
	// Dir is the folder in which pflow-exec is looked up before PATH.
	Dir string
	// Reader is who reads the hints of faults.
	Reader fault.Reader
	// BaseURL is the address that the links to outputs begin with.
	BaseURL string
}

// Add shares a saved workflow under a new token.
func (s *Service) Add(ctx context.Context, name string, ownerFunded bool) (store.Share, error) {
	if _, err := s.saved(name); err != nil {
		return store.Share{}, err
	}
	return s.Store.Add(ctx, name, ownerFunded)
}

// saved returns a saved workflow. Drafts are not shared, because agents may change them.
func (s *Service) saved(name string) (*workflow.File, error) {
	entry, err := library.Open(s.Home).Find(name)
	if err != nil {
		return nil, err
	}
	if !entry.Saved {
		return nil, fault.New(fault.NotFound, "There is no saved workflow %q, only a draft, and drafts are not shared", name).
			Then(fault.Command("Save it", "pflow-lib save %s", name))
	}
	return entry.Read()
}

// share returns the share of a token.
func (s *Service) share(ctx context.Context, token string) (store.Share, error) {
	if err := CheckToken(token); err != nil {
		return store.Share{}, err
	}
	if s.Store == nil {
		return store.Share{}, store.UnknownToken()
	}
	return s.Store.Share(ctx, token)
}

// shared returns the workflow of a share.
func (s *Service) shared(share store.Share) (*workflow.File, error) {
	file, err := s.saved(share.Workflow)
	if err != nil {
		return nil, s.inaccessible(err)
	}
	return file, nil
}

// inaccessible returns the fault of a workflow that was shared and cannot be read. Only its owner learns more.
func (s *Service) inaccessible(err error) error {
	cause := fault.From(err)
	if cause.Type == fault.NotFound {
		return fault.New(fault.NotFound, "Flow not found or not accessible: the workflow that was shared with this token was removed").
			Suggest("The owner of the flow saves it again, or ends the share").Then(fault.Command("End the share", "pflow-share remove TOKEN"))
	}
	f := fault.New(cause.Type, "Flow not found or not accessible: its workflow is not valid").Suggest("The owner of the flow corrects it")
	if !s.Reader.HasTools() {
		f.Errors = []*fault.Fault{withoutSource(cause)}
	}
	return f
}

// runnable returns the workflow of a token, if that may run it.
func (s *Service) runnable(ctx context.Context, token string) (*workflow.File, error) {
	share, err := s.share(ctx, token)
	switch {
	case err != nil && fault.From(err).ExitStatus() == 2: // the token
		return nil, err
	case err != nil:
		return nil, Unavailable(err)
	case !share.OwnerFunded:
		return nil, fault.New(fault.Validation, "This flow requires owner-funded execution to be enabled. The flow owner must enable 'Use Owner Keys' in the share settings.").
			Then(fault.Command("Share it again", "pflow-share add %s --owner-funded", share.Workflow))
	}
	return s.shared(share)
}

// settle finishes the jobs without a run that are older than a limit, because their starting process was killed.
func (s *Service) settle(ctx context.Context, older time.Duration) error {
	return s.Store.Settle(ctx, s.Store.Now().Add(-older), s.ofJob)
}

// Cleaned is the document of Cleanup.
type Cleaned struct {
	Success   bool      `json:"success"`
	Deleted   int64     `json:"deleted"`
	Timestamp time.Time `json:"timestamp"`
}

// Cleanup removes jobs that are no longer shown, and what no limit counts any more. It removes no run.
func (s *Service) Cleanup(ctx context.Context) (Cleaned, error) {
	if s.Store == nil {
		return Cleaned{Success: true, Timestamp: time.Now().UTC()}, nil
	}
	if err := s.settle(ctx, 0); err != nil {
		return Cleaned{}, err
	}
	deleted, err := s.Store.Sweep(ctx)
	return Cleaned{err == nil, deleted, s.Store.Now().UTC()}, err
}
