package engine

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// spending compares what the run has spent with its budget, and stops it when that is used up.
type spending struct {
	budget *event.Budget
	// before is what the runs have spent that this one continues.
	before event.Spending
	clock  *clock
	// began is when the run was admitted.
	began time.Time
	// stop cancels the context of the run.
	stop func(cause error)
	// timer ends the time of the budget, or is nil.
	timer func() bool

	mu sync.Mutex
	// counted is what the tasks that have ended have used, running what the others have reported so far.
	counted event.Spending
	running map[*task]report
}

// report is the use of language models that a task has reported while it runs.
type report struct {
	outputs json.RawMessage // an object with the output llm_usage
	spent   event.Spending
}

// used takes what a task has used so far. It is called without the lock of the scheduler.
func (s *spending) used(t *task, usage json.RawMessage) {
	outputs := with(json.RawMessage("{}"), "llm_usage", usage)
	var u *event.Usage
	if u = u.Add(outputs); u == nil {
		return
	}
	s.mu.Lock()
	if s.running == nil {
		s.running = map[*task]report{}
	}
	s.running[t] = report{outputs, event.SpendingOf(u, 0)}
	s.mu.Unlock()
	s.check()
}

// ended returns the last report of a task that has ended, or nil. It stands for the use of a task that was stopped before it could
// report the whole.
func (s *spending) ended(t *task) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.running[t].outputs
	delete(s.running, t)
	return last
}

// count sets the use of the tasks that have ended.
func (s *spending) count(u *event.Usage) {
	s.mu.Lock()
	s.counted = event.SpendingOf(u, 0)
	s.mu.Unlock()
	s.check()
}

// begin begins the time of the budget. A budget that earlier runs have used up stops the run at once, so that it only reuses what
// they have.
func (s *spending) begin(stop func(cause error)) {
	s.began, s.stop = s.clock.now(), stop
	if s.check(); s.budget == nil || s.budget.Minutes == 0 {
		return
	}
	if left := time.Duration((s.budget.Minutes - s.before.Minutes) * float64(time.Minute)); left > 0 {
		s.timer = s.clock.after(left, func() {
			spent := s.before
			spent.Minutes = s.budget.Minutes
			s.compare(spent)
		})
	}
}

// end ends the time of the budget.
func (s *spending) end() {
	if s.timer != nil {
		s.timer()
	}
}

// check stops the run if its budget is used up.
func (s *spending) check() {
	if s.budget == nil {
		return
	}
	s.mu.Lock()
	sum := s.before.Plus(s.counted).Plus(event.SpendingOf(nil, s.clock.since(s.began)))
	for _, r := range s.running {
		sum = sum.Plus(r.spent)
	}
	s.mu.Unlock()
	s.compare(sum)
}

func (s *spending) compare(spent event.Spending) {
	if field, limit, amount := s.budget.UsedUp(spent); field != "" {
		s.stop(&budgetError{field, limit, amount, s.budget.Spending, spent})
	}
}

// warning returns a warning if the budget is one of money and the cost of some calls is not known, or "".
func (s *spending) warning(u *event.Usage) string {
	if s.budget == nil || s.budget.USD == 0 || u == nil || u.Unpriced == 0 {
		return ""
	}
	return fmt.Sprintf("the budget in dollars does not count %d of %d model calls, whose price is not known: set llm.prices", u.Unpriced, u.Calls)
}

// budgetError is the cause of a run's context that was cancelled because its budget is used up.
type budgetError struct {
	field, limit, amount string
	budget, spent        event.Spending
}

func (e *budgetError) Error() string { return "the budget of " + e.limit + " is used up" }

// fault returns the fault of the run. resume is the step that goes on from it.
func (e *budgetError) fault(resume fault.Step) *fault.Fault {
	f := fault.New(fault.BudgetExceeded, "The run was stopped because its budget of %s is used up: %s spent", e.limit, e.amount).
		Detail("budget", e.budget).Detail("spent", e.spent)
	f.Path = "budget." + e.field
	resume.Do, resume.Name = fault.DoExtend, e.field
	return f.Then(resume)
}
