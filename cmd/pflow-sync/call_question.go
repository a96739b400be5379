package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-isatty"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/form"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// maxQuestions is how often a server may ask during one call.
const maxQuestions = 100

// answered calls a tool. When the server asks a person, the tool is called again with the next of the answers, or with what is
// typed on the terminal.
func (r *connector) answered(session *mcpclient.Session, call mcpclient.Request, answers []string) (*mcpclient.Answer, error) {
	var typed *bufio.Scanner
	for range maxQuestions {
		answer, err := session.Do(r.app.Context, call)
		asked, ok := errors.AsType[*mcpclient.Asked](err)
		if !ok {
			return answer, err
		}
		var text string
		switch fields := asked.Form(); {
		case len(answers) > 0:
			text, answers = answers[0], answers[1:]
			if f := fields.Check(text); f != nil {
				return nil, f.Detail("question", asked.Message)
			}
		case isatty.IsTerminal(r.app.Stdin.Fd()) && isatty.IsTerminal(r.app.Stderr.Fd()):
			if typed == nil {
				typed = bufio.NewScanner(r.app.Stdin)
			}
			text = r.typed(typed, asked)
		}
		if text == "" {
			return nil, unanswered(asked)
		}
		reply := mcpclient.Reply{Question: asked.Question}
		action, content := asked.Form().Parse(text)
		if reply.Action = action; action == form.Accept {
			reply.Content = json.RawMessage(content)
			r.Redactor.AddCredentialsOf(reply.Content)
		}
		call.Replies = append(call.Replies, reply)
	}
	return nil, fault.New(fault.Protocol, "Tool %s asked %d questions", call.Tool, maxQuestions)
}

// typed asks on the terminal. It returns "" at the end of the input.
func (r *connector) typed(in *bufio.Scanner, asked *mcpclient.Asked) string {
	say := func(text string) {
		_, _ = fmt.Fprintln(r.app.Stderr, strings.Join(cells.Lines(r.Redactor.Text(text)), "\n"))
	}
	say("The server asks: " + asked.Message)
	return asked.Form().Fill(func(prompt string) (string, bool) {
		_, _ = io.WriteString(r.app.Stderr, cells.Clean(r.Redactor.Text(prompt)))
		ok := in.Scan()
		return in.Text(), ok
	}, say)
}

// unanswered returns the fault of a call in which the server asks and has no answer.
func unanswered(asked *mcpclient.Asked) *fault.Fault {
	fields := asked.Form()
	return fault.New(fault.Execution, "The server asks a person: %s", asked.Message).Detail("fields", json.RawMessage(fields)).
		Suggest("A workflow with this tool pauses at the question and takes the answer").
		Suggest("Answer it with --answer '%s', or with --answer and one of: %s", fields.Example(), strings.Join(fields.Choices(), ", "))
}
