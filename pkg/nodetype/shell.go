package nodetype

import (
	"encoding/json"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Shell is the shell node: a command for sh.
type Shell struct {
	Command      string          `json:"command" required:"" help:"the command for sh -c, or for bash -c if it has the syntax of bash; a template in it behaves like a shell variable that holds the value"`
	Stdin        json.RawMessage `json:"stdin" help:"standard input: text as it is, any other value as JSON; by default empty"`
	Cwd          string          `json:"cwd" help:"the working directory; by default the run's"`
	Env          Texts           `json:"env" help:"environment variables to add"`
	Timeout      Seconds         `json:"timeout" help:"how long the command may take before it and all its processes are stopped; by default no limit"`
	IgnoreErrors bool            `json:"ignore_errors" default:"false" help:"take the action default for every exit status, which exit_code then has"`
	StripNewline bool            `json:"strip_newline" default:"true" help:"remove newlines at the end of stdout"`
	TTY          bool            `json:"tty" default:"false" help:"run the command in a terminal of 80 columns and 24 lines: stdin is typed, and stdout is everything that the terminal receives"`
}

// ShellOutputs are the outputs of a shell node.
type ShellOutputs struct {
	Stdout             Binary `json:"stdout" help:"standard output, or base64 if it is not UTF-8"`
	StdoutIsBinary     bool   `json:"stdout_is_binary" help:"whether stdout is base64"`
	Stderr             Binary `json:"stderr" help:"standard error, or base64 if it is not UTF-8"`
	StderrIsBinary     bool   `json:"stderr_is_binary" help:"whether stderr is base64"`
	ExitCode           int    `json:"exit_code" help:"the exit status; 128 plus the signal's number if a signal ended the command, -1 without a status, as after a timeout"`
	Error              string `json:"error,omitempty" help:"why the node failed; absent if it did not"`
	SmartHandled       bool   `json:"smart_handled,omitempty" help:"true if an exit status other than 0 is not a failure, such as that of grep without a match if nothing asks for it; absent otherwise"`
	SmartHandledReason string `json:"smart_handled_reason,omitempty" help:"why the exit status is not a failure; absent otherwise"`
}

// JSON returns the same as package encoding/json, without scanning Stdout and Stderr again: they are JSON, and may be long.
func (o *ShellOutputs) JSON() json.RawMessage {
	out := make([]byte, 0, len(o.Stdout)+len(o.Stderr)+len(o.Error)+128)
	out = append(append(out, `{"stdout":`...), o.Stdout...)
	out = strconv.AppendBool(append(out, `,"stdout_is_binary":`...), o.StdoutIsBinary)
	out = append(append(out, `,"stderr":`...), o.Stderr...)
	out = strconv.AppendBool(append(out, `,"stderr_is_binary":`...), o.StderrIsBinary)
	out = strconv.AppendInt(append(out, `,"exit_code":`...), int64(o.ExitCode), 10)
	if o.Error != "" {
		out = rawjson.AppendQuoted(append(out, `,"error":`...), o.Error)
	}
	if o.SmartHandled {
		out = rawjson.AppendQuoted(append(out, `,"smart_handled":true,"smart_handled_reason":`...), o.SmartHandledReason)
	}
	return append(out, '}')
}

func describeShell() Type {
	return describe("shell", "Run a shell command and capture what it prints", Shell{}, ShellOutputs{})
}
