package node

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/shell"
)

// shellExit is how a command ended. stderr is the end of its standard error or, with a terminal, of all its output; tail has the last
// lines of both.
type shellExit struct {
	in           nodetype.Shell
	exit         process.Exit
	err          error
	stderr, tail string
}

// shellResult decides whether the command has failed, and completes its outputs.
func (p *Call) shellResult(e *shellExit, out *nodetype.ShellOutputs) *Result {
	var f *fault.Fault
	late, timedOut := errors.AsType[*TimeoutError](e.err)
	switch {
	case timedOut:
		out.ExitCode = noExitCode
		f = fault.New(fault.Timeout, "Command timed out after %s seconds", seconds(late.After)).
			Suggest("Give the node a longer \"timeout\", or make the command faster")
	case e.err != nil:
		if e.exit.Code == 0 {
			out.ExitCode = noExitCode
		}
		f = fault.From(e.err)
	case e.exit.Code == 0 || e.in.IgnoreErrors:
		return &Result{Action: workflow.ActionDefault, Outputs: out.JSON()}
	default:
		reason, benign := shell.Benign(p.command, e.exit.Code, e.stderr)
		benign = benign && e.exit.Signal == ""
		if benign && !p.asksStatus {
			out.SmartHandled, out.SmartHandledReason = true, reason
			note := fmt.Sprintf("%s: exit status %d is not a failure, because nothing asks for it", reason, e.exit.Code)
			return &Result{Action: workflow.ActionDefault, Outputs: out.JSON(), Note: note}
		}
		if f = exitFault(e.exit, e.tail); benign {
			f.Message += ": " + reason
			f.SuggestNothing().Suggest("Set \"ignore_errors\": true to read exit_code after a search that finds nothing, or handle that with an edge of action \"error\"")
		}
		if p.whole != "" && (e.exit.Code == 126 || e.exit.Code == 127) {
			f.Suggest("The value of %s is one word here, the name of a program. %s", p.whole, shell.WholeCommand)
		}
	}
	out.Error = f.Message
	return &Result{Action: workflow.ActionError, Fault: f, Outputs: out.JSON()}
}

// notStarted is the result of a command that was not started.
func notStarted(f *fault.Fault) *Result {
	empty := nodetype.Binary(event.String(nil))
	out := nodetype.ShellOutputs{Stdout: empty, Stderr: empty, ExitCode: noExitCode, Error: f.Message}
	return &Result{Action: workflow.ActionError, Fault: f, Outputs: out.JSON()}
}

// noExitCode is the exit_code of a command that was not started or was stopped.
const noExitCode = -1

// shellOutputs returns what a command printed. The error is one of storing it.
func shellOutputs(in nodetype.Shell, stdout, stderr Output, code int) (*nodetype.ShellOutputs, error) {
	o, err := stdout.Value(in.StripNewline)
	e, failed := stderr.Value(false)
	return &nodetype.ShellOutputs{
		Stdout: nodetype.Binary(o), StdoutIsBinary: stdout.Binary(),
		Stderr: nodetype.Binary(e), StderrIsBinary: stderr.Binary(),
		ExitCode: code,
	}, errors.Join(err, failed)
}

// maxTail is the most bytes of the end of a process's output that its error contains.
const maxTail = 2000

// tailText returns the end of a process's output as trimmed text. A text that maxTail has cut begins with …, so that
// redaction recognizes a part of a secret.
func tailText(end []byte) string {
	text := strings.ToValidUTF8(string(end), "\uFFFD")
	cut := len(end) >= maxTail && !strings.HasPrefix(text, "…")
	if text = strings.TrimSpace(text); cut {
		text = "…" + text
	}
	return text
}

// exitFault is the fault of a command that failed; text has the last lines of its output.
func exitFault(exit process.Exit, text string) *fault.Fault {
	what := fmt.Sprintf("Command failed with exit code %d", exit.Code)
	if exit.Signal != "" {
		what = fmt.Sprintf("Command was ended by signal: %s", exit.Signal)
	}
	f := fault.New(fault.Execution, "%s", what)
	if text != "" {
		f.Message += ": " + text
	}
	f.Detail("exit_code", exit.Code)
	switch exit.Code {
	case 126:
		f.Suggest("The program exists but cannot be executed: check its permissions")
	case 127:
		f.Suggest("A program in the command was not found: install it, or correct its name or PATH")
	case 1:
		if text == "" { // as test, cmp and grep -q say no
			return f.Suggest("If exit status 1 is an answer and no failure: set \"ignore_errors\": true, or handle it with an edge of action \"error\"")
		}
		fallthrough
	default:
		f.Suggest("Correct the command, or add an edge of action \"error\"")
	}
	return f
}
