package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// asker asks the person at the terminal one question at a time.
type asker struct {
	app   *cli.App
	mu    sync.Mutex
	once  sync.Once
	lines chan string
}

// newAsker returns a function that asks on the terminal, or nil if standard input or standard error is not a terminal.
func newAsker(app *cli.App) runner.Ask {
	if !app.AtTerminal() {
		return nil
	}
	a := &asker{app: app, lines: make(chan string)}
	return a.ask
}

// ask waits until the person types one of the choices, or its first letter if no other choice has it. It returns empty
// strings at the end of the input.
func (a *asker) ask(ctx context.Context, q engine.Question) (answer, by string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.once.Do(func() { go a.read() })
	_, _ = io.WriteString(a.app.Stderr, shownParams(q.Params, "  "))
	if q.Form != nil {
		a.say(q.Text)
		if answer = q.Form.Fill(func(prompt string) (string, bool) { return a.line(ctx, cells.Clean(prompt)) }, a.say); answer == "" {
			return "", "", context.Cause(ctx)
		}
		return answer, "terminal", nil
	}
	text := strings.Join(cells.Lines(q.Text), "\n")
	for {
		line, ok := a.line(ctx, fmt.Sprintf("%s [%s] ", text, cells.Clean(strings.Join(q.Choices, "/"))))
		if !ok {
			return "", "", context.Cause(ctx)
		}
		if line = strings.TrimSpace(line); q.AnyAnswer && line != "" && !slices.Contains(q.Choices, line) {
			return line, "terminal", nil
		}
		if i := slices.IndexFunc(q.Choices, func(c string) bool {
			return strings.EqualFold(c, line) || line != "" && strings.EqualFold(c[:1], line) && unique(q.Choices, c[:1])
		}); i >= 0 {
			return q.Choices[i], "terminal", nil
		}
	}
}

// line shows a prompt and returns the line that is typed. ok is false at the end of the input, and if the context ends.
func (a *asker) line(ctx context.Context, prompt string) (line string, ok bool) {
	_, _ = io.WriteString(a.app.Stderr, prompt)
	select {
	case <-ctx.Done():
	case line, ok = <-a.lines:
	}
	if !ok {
		_, _ = fmt.Fprintln(a.app.Stderr)
	}
	return line, ok
}

// say shows a text on lines of its own.
func (a *asker) say(text string) {
	_, _ = fmt.Fprintln(a.app.Stderr, strings.Join(cells.Lines(text), "\n"))
}

// maxShownParam is the most bytes that a person is shown of a parameter.
const maxShownParam = 2000

// shownParams returns the parameters of a node for people, one on each line, or as an indented block if it has several lines.
func shownParams(params json.RawMessage, indent string) string {
	var b strings.Builder
	gjson.ParseBytes(params).ForEach(func(name, value gjson.Result) bool {
		lines := cells.Lines(fault.Truncate(template.AsText(json.RawMessage(value.Raw)), maxShownParam))
		if len(lines) == 1 {
			fmt.Fprintf(&b, "%s%s: %s\n", indent, cells.Clean(name.Str), lines[0])
			return true
		}
		fmt.Fprintf(&b, "%s%s:\n", indent, cells.Clean(name.Str))
		for _, line := range lines {
			fmt.Fprintf(&b, "%s  %s\n", indent, line)
		}
		return true
	})
	return b.String()
}

// unique reports whether only one choice begins with a letter.
func unique(choices []string, letter string) bool {
	n := 0
	for _, c := range choices {
		if strings.EqualFold(c[:1], letter) {
			n++
		}
	}
	return n == 1
}

// read passes on the lines that are typed. It runs until the program ends: a read from a terminal cannot be cancelled.
func (a *asker) read() {
	in := bufio.NewScanner(a.app.Stdin)
	for in.Scan() {
		a.lines <- in.Text()
	}
	close(a.lines)
}
