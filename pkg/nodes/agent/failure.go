package agent

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// The budgets, by the names of their parameters.
const (
	maxTurns = "max_turns"
	maxCost  = "max_cost_usd"
	timeout  = "timeout"
)

// stopped returns the error of a call that could not start or was stopped.
func (j *job) stopped(err error, s *stream) error {
	var f *fault.Fault
	switch {
	case errors.Is(err, errTimeout):
		f = j.budget(timeout)
		if s.waiting != "" {
			f.Message += "; " + fault.Truncate(s.waiting, maxShown)
			reason := j.failed(s.waiting, s.waitingStatus)
			own := f.Suggestions
			f.SuggestAs(reason).Retryable = reason.Retryable
			for _, text := range own {
				f.Suggest("%s", text)
			}
		}
	case errors.Is(err, errTurns):
		j.turns = j.in.MaxTurns // the next turn was stopped at its start
		f = j.budget(maxTurns)
	case errors.Is(err, errLongLine):
		f = fault.New(fault.Protocol, "%s printed a line of more than %d MiB and was stopped", j.in.Backend, maxLine>>20).
			Suggest("Check that command is %s: it must print one JSON object per line", j.in.Backend)
	case errors.Is(err, process.ErrFormat):
		f = j.missing(j.command[0]).Detail("cause", "not a program for this system")
	default:
		var own *fault.Fault
		if !errors.As(err, &own) {
			return err // the cause of the caller's context
		}
		f = own
	}
	return j.redacted(f)
}

// budget returns the fault for a budget that is used up.
func (j *job) budget(name string) *fault.Fault {
	kind, amount := fault.Execution, ""
	switch name {
	case maxTurns:
		amount = plural(float64(j.in.MaxTurns), "turn")
	case maxCost:
		amount = "$" + decimal(*j.in.MaxCostUSD)
	case timeout:
		kind, amount = fault.Timeout, plural(float64(j.in.Timeout), "second")
	}
	f := fault.New(kind, "%s used up its budget of %s (%s) before it was done", j.in.Backend, amount, name).Detail("budget", name)
	if j.session == "" {
		return f.Suggest("Increase %s, or give a smaller task", name)
	}
	return f.Suggest("Continue with resume %q and a greater %s, or give a smaller task", fault.Truncate(j.session, 100), name)
}

func plural(n float64, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return decimal(n) + " " + of + "s"
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// exhausted returns a fault if the budget allows no other call, and else nil.
func (j *job) exhausted() *fault.Fault {
	switch {
	case j.turns >= j.in.MaxTurns:
		return j.budget(maxTurns)
	case j.in.MaxCostUSD != nil && j.cost() >= *j.in.MaxCostUSD:
		return j.budget(maxCost)
	}
	return nil
}

// ended returns the fault of a call that ended by itself, or nil if it succeeded.
func (j *job) ended(s *stream, exit process.Exit, stderr string) *fault.Fault {
	switch {
	case s.failure != nil && s.failure.budget == maxCost && j.in.MaxCostUSD == nil:
		return j.failed(s.failure.text, s.failure.status)
	case s.failure != nil && s.failure.budget != "":
		return j.budget(s.failure.budget)
	case s.failure != nil:
		return j.failed(s.failure.text, s.failure.status)
	case exit.Code != 0:
		return j.died(s, exit, stderr)
	case s.missing && s.structured == nil:
		f := fault.New(fault.Protocol, "%s finished without a result", j.in.Backend)
		return j.quoted(f, s, stderr).Suggest("Check that command is a version of %s that supports %s", j.in.Backend, j.backend.outputOptions())
	case !s.done:
		f := fault.New(fault.Protocol, "%s ended without a result", j.in.Backend)
		return j.quoted(f, s, stderr).Suggest("Check that command is a version of %s that supports %s", j.in.Backend, j.backend.outputOptions())
	}
	return nil
}

// died returns the fault for an agent that failed without reporting why in its output.
func (j *job) died(s *stream, exit process.Exit, stderr string) *fault.Fault {
	if flag, ok := unknownFlag(stderr); ok {
		return fault.New(fault.Unavailable, "This %s is too old: it does not know %s", j.in.Backend, flag).
			Suggest("Install a newer one with: %s@latest", j.backend.install()).Detail("stderr", stderr)
	}
	switch {
	case exit.Signal == "" && s.waiting != "":
		return j.failed(s.waiting, s.waitingStatus).Detail("exit_code", exit.Code)
	case exit.Signal == "" && stderr != "" && s.lines == 0:
		return j.failed(stderr, 0).Detail("exit_code", exit.Code)
	}
	f := fault.New(fault.Execution, "%s failed with exit code %d", j.in.Backend, exit.Code)
	if exit.Signal != "" {
		f.Message = j.in.Backend + " was ended by signal: " + exit.Signal
	}
	return j.quoted(f, s, stderr).Detail("exit_code", exit.Code).Suggest("Run %s by hand in the same directory to see what is wrong", j.in.Backend)
}

// quoted adds what the agent printed instead of messages.
func (j *job) quoted(f *fault.Fault, s *stream, stderr string) *fault.Fault {
	if stderr != "" {
		f.Message += ": " + stderr
	}
	if s.noise != "" {
		f.Message += "; it printed " + s.noise
	}
	return f
}

// unknownFlag returns the option that the agent did not know, by its message.
func unknownFlag(stderr string) (flag string, ok bool) {
	for _, opening := range []string{"unknown option '", "unexpected argument '", "unrecognized subcommand '"} {
		if _, rest, found := strings.Cut(stderr, opening); found {
			flag, _, ok = strings.Cut(rest, "'")
			flag, _, _ = strings.Cut(flag, "=")
			return flag, ok
		}
	}
	return "", false
}

// schemaMismatch returns the fault for a result that does not fit the schema.
func (j *job) schemaMismatch(r *report, wrong error, asked int) *fault.Fault {
	again := ""
	if asked > 1 {
		again = fmt.Sprintf(", asked %d times", asked)
	}
	f := fault.New(fault.Execution, "The result of %s does not fit output_schema%s: %v", j.in.Backend, again, wrong)
	result := r.text
	if r.structured != nil {
		result = string(r.structured)
	}
	if result = strings.TrimSpace(result); result != "" {
		f.Message += ". The result: " + fault.Truncate(result, 500)
	}
	return j.redacted(f.Suggest("Describe the result in the prompt, or simplify output_schema").
		Suggest("Or continue with resume %q", fault.Truncate(j.session, 100)))
}

// redacted replaces the secrets in the texts of a fault.
func (j *job) redacted(f *fault.Fault) *fault.Fault {
	f.Message = j.secrets.Text(f.Message)
	f.MapSuggestions(j.secrets.Text)
	for name, v := range f.Details {
		if text, ok := v.(string); ok {
			f.Details[name] = j.secrets.Text(text)
		}
	}
	return f
}
