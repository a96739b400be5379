package agent

import (
	"errors"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// The budgets that can be used up, by the parameters that set them.
const (
	maxTurns = "max_turns"
	maxCost  = "max_cost_usd"
	timeout  = "timeout"
)

// stopped is the error of a call that could not be started or was not let come to its end.
func (j *job) stopped(err error, s *stream) error {
	var f *fault.Fault
	switch {
	case errors.Is(err, errLate):
		f = j.budget(timeout)
		if s.waits != "" {
			f.Message += "; " + fault.Truncate(s.waits, maxSaid)
			because := j.failed(s.waits, s.waitsStatus)
			f.Suggestions, f.Retryable = append(because.Suggestions, f.Suggestions...), because.Retryable
		}
	case errors.Is(err, errTurns):
		j.turns = j.in.MaxTurns // the one more was not let come to anything
		f = j.budget(maxTurns)
	case errors.Is(err, errLong):
		f = fault.New(fault.Protocol, "%s printed a line of more than %d MiB and was stopped", j.in.Backend, maxLine>>20).
			Suggest("Check that command is %s: it must print one JSON object a line", j.in.Backend)
	case errors.Is(err, process.ErrFormat):
		f = j.missing(j.command[0]).Detail("cause", "no program of this system")
	default:
		var own *fault.Fault
		if !errors.As(err, &own) {
			return err // the cause of the caller's context
		}
		f = own
	}
	return j.cleaned(f)
}

// budget is the fault of one that is used up.
func (j *job) budget(name string) *fault.Fault {
	kind, much := fault.Execution, ""
	switch name {
	case maxTurns:
		much = plural(float64(j.in.MaxTurns), "turn")
	case maxCost:
		much = "$" + decimal(*j.in.MaxCostUSD)
	case timeout:
		kind, much = fault.Timeout, plural(float64(j.in.Timeout), "second")
	}
	f := fault.New(kind, "%s used up its budget of %s (%s) before it was done", j.in.Backend, much, name).Detail("budget", name)
	if j.session == "" {
		return f.Suggest("Give a greater %s, or a smaller task", name)
	}
	return f.Suggest("Go on where it stopped with resume %q and a greater %s, or give a smaller task", fault.Truncate(j.session, 100), name)
}

func plural(n float64, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return decimal(n) + " " + of + "s"
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// exhausted is the fault of a job that has no turn or money left for another call.
func (j *job) exhausted() *fault.Fault {
	switch {
	case j.turns >= j.in.MaxTurns:
		return j.budget(maxTurns)
	case j.in.MaxCostUSD != nil && j.cost() >= *j.in.MaxCostUSD:
		return j.budget(maxCost)
	}
	return nil
}

// ended is the fault of a call that came to its end and failed.
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
		f := fault.New(fault.Protocol, "%s told its end without a result", j.in.Backend)
		return j.quoted(f, s, stderr).Suggest("Check that command is %s, in a version that has %s", j.in.Backend, j.backend.speaks())
	case !s.done:
		f := fault.New(fault.Protocol, "%s ended without a result", j.in.Backend)
		return j.quoted(f, s, stderr).Suggest("Check that command is %s, in a version that has %s", j.in.Backend, j.backend.speaks())
	}
	return nil
}

// died is the fault of an agent that ended with an exit status and without saying why on its stream.
func (j *job) died(s *stream, exit process.Exit, stderr string) *fault.Fault {
	if flag, ok := unknownFlag(stderr); ok {
		return fault.New(fault.Unavailable, "This %s is too old: it does not know %s", j.in.Backend, flag).
			Suggest("Install a newer one with: %s@latest", j.backend.install()).Detail("stderr", stderr)
	}
	switch {
	case exit.Signal == "" && s.waits != "":
		return j.failed(s.waits, s.waitsStatus).Detail("exit_code", exit.Code)
	case exit.Signal == "" && stderr != "" && s.lines == 0:
		return j.failed(stderr, 0).Detail("exit_code", exit.Code)
	}
	f := fault.New(fault.Execution, "%s failed with exit code %d", j.in.Backend, exit.Code)
	if exit.Signal != "" {
		f.Message = j.in.Backend + " was ended by signal: " + exit.Signal
	}
	return j.quoted(f, s, stderr).Detail("exit_code", exit.Code).Suggest("Run %s by hand in the same folder to see what is wrong", j.in.Backend)
}

// quoted adds what the agent said in the place of messages.
func (j *job) quoted(f *fault.Fault, s *stream, stderr string) *fault.Fault {
	if stderr != "" {
		f.Message += ": " + stderr
	}
	if s.noise != "" {
		f.Message += "; it printed " + s.noise
	}
	return f
}

// unknownFlag finds the option that a command line did not understand.
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

// misfit is the fault of a result that does not fit the schema.
func (j *job) misfit(r *report, wrong error, again bool) *fault.Fault {
	f := fault.New(fault.Execution, "The result of %s does not fit output_schema: %v", j.in.Backend, wrong)
	if again {
		f.Message = strings.Replace(f.Message, " does not", ", also when it was asked again, does not", 1)
	}
	said := r.text
	if r.structured != nil {
		said = string(r.structured)
	}
	if said = strings.TrimSpace(said); said != "" {
		f.Message += ". It said: " + fault.Truncate(said, 500)
	}
	return j.cleaned(f.Suggest("Say in the prompt what the result must hold, or make output_schema simpler").
		Suggest("Or go on with resume %q", fault.Truncate(j.session, 100)))
}

// cleaned is a fault without secrets.
func (j *job) cleaned(f *fault.Fault) *fault.Fault {
	f.Message = j.secrets.Text(f.Message)
	for i, s := range f.Suggestions {
		f.Suggestions[i] = j.secrets.Text(s)
	}
	for name, v := range f.Details {
		if text, ok := v.(string); ok {
			f.Details[name] = j.secrets.Text(text)
		}
	}
	return f
}
