package nodetype

import (
	"encoding/json"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Shell is the shell node: a command given to sh.
type Shell struct {
	Command      string          `json:"command" required:"" help:"the command, as sh -c takes it; a template in it behaves as the shell variable that holds its value"`
	Stdin        json.RawMessage `json:"stdin" help:"what the command reads: text as it is, any other value as JSON; nothing by default"`
	Cwd          string          `json:"cwd" help:"the working directory, by default the run's"`
	Env          Texts           `json:"env" help:"variables added to the environment"`
	Timeout      Seconds         `json:"timeout" default:"30" help:"seconds until the command and all it started are stopped"`
	IgnoreErrors bool            `json:"ignore_errors" default:"false" help:"go on with action default whatever the exit status"`
	StripNewline bool            `json:"strip_newline" default:"true" help:"drop the newlines at the end of stdout"`
	TTY          bool            `json:"tty" default:"false" help:"run the command at a terminal of 80 columns and 24 lines: stdin is typed into it, and all that it shows is stdout"`
}

// ShellOutputs is what a shell node leaves behind.
type ShellOutputs struct {
	Stdout             Binary `json:"stdout" help:"standard output, base64 when it is not UTF-8"`
	StdoutIsBinary     bool   `json:"stdout_is_binary" help:"whether stdout is base64"`
	Stderr             Binary `json:"stderr" help:"standard error, base64 when it is not UTF-8"`
	StderrIsBinary     bool   `json:"stderr_is_binary" help:"whether stderr is base64"`
	ExitCode           int    `json:"exit_code" help:"exit status, 128 plus the signal when one ended it, -1 when there is none, as after the timeout"`
	Error              string `json:"error,omitempty" help:"why it failed; absent when it did not"`
	SmartHandled       bool   `json:"smart_handled,omitempty" help:"true when an exit status other than 0 is none of a failure, such as that of grep without a match; absent otherwise"`
	SmartHandledReason string `json:"smart_handled_reason,omitempty" help:"why it is none; absent otherwise"`
}

// JSON is what encoding/json makes of it, without looking through the outputs again, which may be long: they are JSON.
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
