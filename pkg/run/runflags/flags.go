// Package runflags has the flags that say how to run a workflow. All programs that run or start one embed them.
package runflags

import (
	"strconv"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Flags say how to run. They are fields of the grammar of a command.
type Flags struct {
	Jobs    int    `help:"Run at most N nodes at the same time; by default one for each processor." short:"j" placeholder:"N"`
	Timeout string `help:"Stop the run after this time: 30s, 5m, or seconds." placeholder:"DURATION"`
	BudgetFlags
	RunsOn    []string `name:"runs-on" help:"Use this command line for a runner that nodes name, instead of that in settings.json; repeatable." sep:"none" placeholder:"NAME=COMMAND"`
	KeepGoing bool     `help:"After a failure, go on with the nodes that do not depend on it." short:"k"`
	OnFailure string   `help:"What happens to running nodes and items after a failure that no edge of its own workflow takes: finish, or stop. By default runtime.on_failure of the workflow, or finish." enum:",finish,stop" default:"" placeholder:"finish|stop"`
	NoCache   bool     `help:"Run nodes even if the cache has their outputs, and cache the new ones."`
	Sync      bool     `help:"Write every event through to the disk before the run goes on."`
}

// Limits are the values of flags that are numbers, times or command lines.
type Limits struct {
	Timeout time.Duration
	Budget  event.Spending
	// Runners are the command lines of runners by their names.
	Runners map[string]string
}

// Limits checks the flags and returns their values.
func (f *Flags) Limits() (l Limits, err error) {
	if f.Jobs < 0 {
		return l, fault.New(fault.Usage, "--jobs must be at least 1, got %d", f.Jobs)
	}
	if f.KeepGoing && f.OnFailure != "" {
		return l, fault.New(fault.Usage, "--keep-going and --on-failure cannot be combined").Suggest("Leave out one of them: --keep-going starts other nodes after a failure")
	}
	if l.Budget, err = f.spending(); err != nil {
		return l, err
	}
	if l.Runners, err = f.runners(); err != nil {
		return l, err
	}
	l.Timeout, err = cli.Duration(f.Timeout)
	return l, err
}

// runners returns the command lines of --runs-on by their names.
func (f *Flags) runners() (map[string]string, error) {
	if len(f.RunsOn) == 0 {
		return nil, nil
	}
	runners := map[string]string{}
	for _, given := range f.RunsOn {
		name, command, ok := strings.Cut(given, "=")
		if !ok {
			return nil, fault.New(fault.Usage, "--runs-on %q is not NAME=COMMAND", given)
		}
		if wrong := settings.CheckRunner(name, command); wrong != nil {
			return nil, fault.New(fault.Usage, "--runs-on: %s", wrong.Message)
		}
		runners[name] = command
	}
	return runners, nil
}

// Arguments checks the flags and returns them as arguments for pflow-exec run, which says the same.
func (f *Flags) Arguments() (args []string, err error) {
	l, err := f.Limits()
	if err != nil {
		return nil, err
	}
	if f.Jobs > 0 {
		args = append(args, "--jobs="+strconv.Itoa(f.Jobs))
	}
	if l.Timeout > 0 {
		args = append(args, "--timeout="+l.Timeout.String())
	}
	args = append(args, f.BudgetFlags.arguments()...)
	for _, given := range f.RunsOn {
		args = append(args, "--runs-on="+given)
	}
	if f.OnFailure != "" {
		args = append(args, "--on-failure="+f.OnFailure)
	}
	for _, given := range []struct {
		flag string
		set  bool
	}{{"--keep-going", f.KeepGoing}, {"--no-cache", f.NoCache}, {"--sync", f.Sync}} {
		if given.set {
			args = append(args, given.flag)
		}
	}
	return args, nil
}

// BudgetFlags replace fields of the workflow's budget.
type BudgetFlags struct {
	BudgetUSD     *float64 `name:"budget-usd" help:"Stop the run, with those that it continues, when it has spent N dollars on models and agents." placeholder:"N"`
	BudgetTokens  *int64   `help:"Stop it when it has used N tokens." placeholder:"N"`
	BudgetMinutes *float64 `help:"Stop it when it has executed for N minutes." placeholder:"N"`
}

// spending returns the fields that are given.
func (f *BudgetFlags) spending() (s event.Spending, err error) {
	amount := func(flag string, given *float64, to *float64) {
		if given == nil {
			return
		}
		if *to = *given; !(*to > 0 && *to <= workflow.MaxAmount) && err == nil {
			err = fault.New(fault.Usage, "%s must be a number above 0 and at most %d, got %v", flag, int(workflow.MaxAmount), *to)
		}
	}
	amount("--budget-usd", f.BudgetUSD, &s.USD)
	amount("--budget-minutes", f.BudgetMinutes, &s.Minutes)
	if f.BudgetTokens != nil {
		if s.Tokens = *f.BudgetTokens; (s.Tokens < 1 || s.Tokens > workflow.MaxTokens) && err == nil {
			err = fault.New(fault.Usage, "--budget-tokens must be a whole number of at least 1, got %d", s.Tokens)
		}
	}
	return s, err
}

// arguments returns the flags that are given as arguments.
func (f *BudgetFlags) arguments() (args []string) {
	amount := func(flag string, given *float64) {
		if given != nil {
			args = append(args, flag+"="+strconv.FormatFloat(*given, 'g', -1, 64))
		}
	}
	amount("--budget-usd", f.BudgetUSD)
	if f.BudgetTokens != nil {
		args = append(args, "--budget-tokens="+strconv.FormatInt(*f.BudgetTokens, 10))
	}
	amount("--budget-minutes", f.BudgetMinutes)
	return args
}
