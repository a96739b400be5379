package main

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mattn/go-isatty"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// asker asks the person at the terminal, one question at a time.
type asker struct {
	app   *cli.App
	mu    sync.Mutex
	once  sync.Once
	lines chan string
}

// newAsker gives how a person is asked: on the terminal, when standard input and standard error are one; else nil.
func newAsker(app *cli.App) func(context.Context, engine.Question) (answer, by string, err error) {
	if !isatty.IsTerminal(app.Stdin.Fd()) || !isatty.IsTerminal(app.Stderr.Fd()) {
		return nil
	}
	a := &asker{app: app, lines: make(chan string)}
	return a.ask
}

// ask waits for one of the choices. The end of the input leaves the question open.
func (a *asker) ask(ctx context.Context, q engine.Question) (answer, by string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.once.Do(func() { go a.read() })
	for {
		_, _ = fmt.Fprintf(a.app.Stderr, "%s [%s] ", strings.Join(cells.Lines(q.Text), "\n"), cells.Clean(strings.Join(q.Choices, "/")))
		select {
		case <-ctx.Done():
			_, _ = fmt.Fprintln(a.app.Stderr)
			return "", "", context.Cause(ctx)
		case line, ok := <-a.lines:
			if !ok {
				_, _ = fmt.Fprintln(a.app.Stderr)
				return "", "", nil
			}
			line = strings.ToLower(strings.TrimSpace(line))
			if i := slices.IndexFunc(q.Choices, func(c string) bool {
				return strings.EqualFold(c, line) || line != "" && strings.EqualFold(c[:1], line) && unique(q.Choices, c[:1])
			}); i >= 0 {
				return q.Choices[i], "terminal", nil
			}
		}
	}
}

// unique says whether only one choice begins with a letter.
func unique(choices []string, letter string) bool {
	n := 0
	for _, c := range choices {
		if strings.EqualFold(c[:1], letter) {
			n++
		}
	}
	return n == 1
}

// read passes on what is typed. It lives as long as the program: a read of a terminal cannot be called off.
func (a *asker) read() {
	in := bufio.NewScanner(a.app.Stdin)
	for in.Scan() {
		a.lines <- in.Text()
	}
	close(a.lines)
}
