package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// Piped standard output is data only, and standard error is empty unless there is an error. On a terminal the same calls
// print text for people.
func TestPurity(t *testing.T) {
	t.Parallel()
	jsonLine := regexp.MustCompile(`(?m)^(\{"|\[\{|\[\]$|\{\}$)`) // an answer that is an object by nature is shown indented
	for i, c := range calls {
		name := c.line
		if c.before != nil {
			name += " after " + strings.Join(c.before, " and ")
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("pipe", func(t *testing.T) {
				p := purityPlace(t, c)
				args := strings.Fields(c.line)
				o := p.fed(c.stdin, args[0], args[1:]...)
				if o.exit != c.exit {
					t.Errorf("not exit status %d: %s", c.exit, o)
				}
				if c.exit == 0 {
					p.checkAnswer(c.shape, o)
				} else {
					p.checkFailure(args[0], o)
				}
			})
			if testing.Short() && i%3 > 0 {
				return
			}
			t.Run("terminal", func(t *testing.T) {
				p := purityPlace(t, c)
				o := p.onTerminal(c)
				exit := cmp.Or(c.terminalExit, c.exit)
				if o.exit != exit {
					t.Errorf("not exit status %d: %s", exit, o)
				}
				if exit == 0 && (c.shape == stream || c.shape == text) {
					return
				}
				if jsonLine.MatchString(o.stdout) && !strings.Contains(c.line, "--format json") && !strings.Contains(c.line, "--format ndjson") {
					t.Errorf("JSON for people: %s", o)
				}
				if program, _, _ := strings.Cut(c.line, " "); exit != 0 && !strings.Contains(o.stderr, program+": error: ") {
					t.Errorf("standard error does not say what is wrong: %s", o)
				}
			})
		})
	}
}

// purityPlace returns a place with the files that the calls use.
func purityPlace(t *testing.T, c call) *place {
	t.Helper()
	p, _ := fluxPlace(t)
	if strings.HasPrefix(c.line, "pflow-sync log") {
		p.guarded("web")
	}
	p.draft("good", chain("echo hello"))
	p.draft("failing", chain("echo hello", "echo oops >&2; exit 3"))
	p.draft("slow", chain("while :; do :; done"))
	p.draft("bad", `{"nodes":[{"id":"a","type":"no-such-type","params":{}},{"id":"b","type":"shell","params":{}}]}`)
	p.draft("torn", `{"nodes":[`)
	p.draft("greet", `{"inputs":{"name":{"type":"string"}},"nodes":[{"id":"a","type":"shell","params":{"command":"echo ${name}"}}]}`)
	if strings.HasPrefix(c.line, "pflow-share") {
		p.env = append(p.env, masterKey)
	}
	for _, line := range c.before {
		args := strings.Fields(line)
		p.run(args[0], args[1:]...)
		if strings.HasPrefix(line, "pflow-share add") {
			p.database("UPDATE shares SET token = ?", knownToken)
		} else if strings.HasPrefix(line, "pflow-share run") {
			p.database("UPDATE jobs SET id = ?", knownJob)
		}
	}
	return p
}

// checkAnswer checks the output of a successful call on pipes.
func (p *place) checkAnswer(s shape, o outcome) {
	p.Helper()
	if o.stderr != "" {
		p.Errorf("standard error is not silent: %s", o)
	}
	switch s {
	case document:
		if strings.Count(o.stdout, "\n") != 1 || !strings.HasSuffix(o.stdout, "\n") || !json.Valid([]byte(o.stdout)) {
			p.Errorf("standard output is not one JSON document: %s", o)
		}
	case lines, stream:
		p.events(o.stdout)
	case text:
		if strings.TrimSpace(o.stdout) == "" {
			p.Error("there is no text")
		}
	case nothing:
		if o.stdout != "" {
			p.Errorf("standard output is not empty: %s", o)
		}
	}
}

// checkFailure checks the output of a failing call on pipes: standard output ends with the error, whose type determines the
// exit status, and standard error has its message.
func (p *place) checkFailure(program string, o outcome) {
	p.Helper()
	if !strings.HasPrefix(o.stderr, program+": error: ") && !strings.Contains(o.stderr, "\n"+program+": error: ") {
		p.Errorf("standard error does not say %s: error: …: %s", program, o)
	}
	last := p.last(o.stdout)
	refused := last["run_id"] == nil
	switch last["event"] {
	case "run_finished":
		refused, last["success"] = false, last["status"] == "completed"
	case nil, "run_refused":
	default:
		p.Errorf("the events end with %v", last["event"])
	}
	if servers, ok := last["servers"].([]any); ok { // sync tells of each server, for others may have succeeded
		last, _ = servers[0].(map[string]any)
		last["success"] = false
	}
	if last["success"] != false {
		p.Errorf("the last line does not say that it failed: %s", o)
	}
	e, _ := last["error"].(map[string]any)
	kind, message := e["type"], e["message"]
	if strings.HasPrefix(program, "veloflux") && e["error_code"] != nil { // its own error object
		kind, message = e["error_code"], e["error_message"]
		refused = false
		if kind != "invalid_params" {
			kind = "execution_error" // all its others are failures
		}
	}
	if k, ok := kind.(string); !ok || k == "" || message == nil || message == "" {
		p.Fatalf("there is no error with its type and message: %s", o)
	}
	if o.exit != 124 && last["server"] == nil && o.exit != exitOf(kind, refused) {
		p.Errorf("not the exit status of %s: %s", kind, o)
	}
}

// exitOf returns the exit status of a fault. A template that cannot be resolved is a usage error if nothing ran.
func exitOf(kind any, refused bool) int {
	switch kind {
	case "usage_error", "validation_error", "security_error", "not_found", "already_exists", "invalid_params":
		return 2
	case "template_error":
		if refused {
			return 2
		}
	}
	return 1
}

// onTerminal runs a call with standard output on a terminal.
func (p *place) onTerminal(c call) outcome {
	p.Helper()
	terminal, tty, err := pty.Open()
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	args := strings.Fields(c.line)
	cmd := p.command(args[0], args[1:]...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.stdin), tty, &stderr
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	_ = tty.Close()
	shown, _ := io.ReadAll(terminal) // ends with an error when nobody has the terminal any more
	if exit := (*exec.ExitError)(nil); !errors.As(cmd.Wait(), &exit) && cmd.ProcessState == nil {
		p.Fatal("the program has no end")
	}
	o := outcome{strings.ReplaceAll(string(shown), "\r\n", "\n"), stderr.String(), cmd.ProcessState.ExitCode()}
	if strings.Contains(o.stdout+o.stderr, "goroutine ") || strings.Contains(o.stdout+o.stderr, "panic:") {
		p.Errorf("crashed: %s", o)
	}
	return o
}

// The table of calls has every command.
func TestCallsAreComplete(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	command := regexp.MustCompile(`(?m)^  ([a-z][a-z-]*(?: [a-z][a-z-]*)?)`)
	for _, program := range programs {
		_, list, found := strings.Cut(p.must(program, "--help"), "\nCommands:\n")
		listed := command.FindAllStringSubmatch(list, -1)
		if !found || len(listed) == 0 {
			t.Errorf("%s --help lists no commands", program)
		}
		for _, m := range listed {
			for _, fails := range []bool{false, true} {
				if !fails && slices.Contains(endless, program+" "+m[1]) {
					continue
				}
				known := slices.ContainsFunc(calls, func(c call) bool {
					return strings.Contains(c.line+" ", program+" "+m[1]+" ") && (c.exit != 0) == fails
				})
				if !known {
					t.Errorf("%s %s is new: add to calls in purity_test.go a call that succeeds and one that fails", program, m[1])
				}
			}
		}
	}
}
