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

// shellEnding is how a command ended, with the end of what it said.
type shellEnding struct {
	in     nodetype.Shell
	exit   process.Exit
	err    error
	stderr []byte
}

// judge says whether it failed.
func (p *Call) judge(e *shellEnding, out *nodetype.ShellOutputs) *Result {
	var f *fault.Fault
	late, timedOut := errors.AsType[*TimeoutError](e.err)
	switch {
	case timedOut:
		out.ExitCode = noStatus
		f = fault.New(fault.Timeout, "Command timed out after %s seconds", seconds(late.After)).
			Suggest("Give the node a longer \"timeout\" (in seconds), or make the command finish sooner")
	case e.err != nil:
		if e.exit.Code == 0 {
			out.ExitCode = noStatus
		}
		f = fault.From(e.err)
	case e.exit.Code == 0 || e.in.IgnoreErrors:
		return &Result{Action: workflow.ActionDefault, Outputs: out.JSON()}
	default:
		if reason, ok := shell.Benign(p.command, e.exit.Code, string(e.stderr)); ok && e.exit.Signal == "" {
			out.SmartHandled, out.SmartHandledReason = true, reason
			return &Result{Action: workflow.ActionDefault, Outputs: out.JSON()}
		}
		f = exitFault(e.exit, e.stderr)
	}
	out.Error = f.Message
	return &Result{Action: workflow.ActionError, Fault: f, Outputs: out.JSON()}
}

// unstarted is the result of a command that was not started.
func unstarted(f *fault.Fault) *Result {
	empty := nodetype.Binary(event.String(nil))
	out := nodetype.ShellOutputs{Stdout: empty, Stderr: empty, ExitCode: noStatus, Error: f.Message}
	return &Result{Action: workflow.ActionError, Fault: f, Outputs: out.JSON()}
}

// noStatus is the exit status of a command that has none.
const noStatus = -1

// shellOutputs are what a command printed. The error is one of keeping that.
func shellOutputs(in nodetype.Shell, stdout, stderr *event.Capture, code int) (*nodetype.ShellOutputs, error) {
	o, err := stdout.Value(in.StripNewline)
	e, failed := stderr.Value(false)
	return &nodetype.ShellOutputs{
		Stdout: nodetype.Binary(o), StdoutIsBinary: stdout.Binary(),
		Stderr: nodetype.Binary(e), StderrIsBinary: stderr.Binary(),
		ExitCode: code,
	}, errors.Join(err, failed)
}

// maxSaid is how many bytes of the end of what a failed command said stand in its error.
const maxSaid = 2000

// saidAtEnd is the end of what a process said, which maxSaid may have cut, as text without the space around it. What was
// cut is marked, so that a part of a secret is known by where it stands.
func saidAtEnd(end []byte) string {
	said := strings.ToValidUTF8(string(end), "\uFFFD")
	cut := len(end) >= maxSaid && !strings.HasPrefix(said, "…")
	if said = strings.TrimSpace(said); cut {
		said = "…" + said
	}
	return said
}

// exitFault is the fault of a command that failed; stderr is the end of what it said.
func exitFault(exit process.Exit, stderr []byte) *fault.Fault {
	said := saidAtEnd(stderr)
	what := fmt.Sprintf("Command failed with exit code %d", exit.Code)
	if exit.Signal != "" {
		what = fmt.Sprintf("Command was ended by signal: %s", exit.Signal)
	}
	f := fault.New(fault.Execution, "%s", what)
	if said != "" {
		f.Message += ": " + said
	}
	f.Detail("exit_code", exit.Code)
	switch exit.Code {
	case 126:
		f.Suggest("The program is there but may not be executed: check its permissions")
	case 127:
		f.Suggest("A program in the command was not found: install it, or correct its name or PATH")
	default:
		f.Suggest("Correct the command, or set \"ignore_errors\": true if this exit status is no failure, or take it with an edge of action \"error\"")
	}
	return f
}
