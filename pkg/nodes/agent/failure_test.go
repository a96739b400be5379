package agent_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodes/agent"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// TestRefused checks that invalid parameters are reported before anything starts.
func TestRefused(t *testing.T) {
	t.Parallel()
	for params, said := range map[string]string{
		`"prompt":" \n"`:                          "prompt must not be empty",
		`"prompt":"p","sandbox":"read-only"`:      "Backend claude does not support sandbox",
		`"prompt":"p","max_turns":0`:              "max_turns must be at least 1",
		`"prompt":"p","max_cost_usd":0`:           "max_cost_usd must be more than 0",
		`"prompt":"p","timeout":0`:                "timeout must be more than 0",
		`"prompt":"p","resume":"--help"`:          "resume is not a session id",
		`"prompt":"p","allowed_tools":[" "]`:      "must not have an empty name",
		`"prompt":"p","output_schema":{"type":3}`: "output_schema cannot be used",
		`"prompt":"p","output_schema":"text"`:     "output_schema cannot be used",
		`"prompt":"p","env":{"A=B":"c"}`:          "cannot hold the variable",
		`"prompt":"p","backend":"codex","allowed_tools":["a"],"disallowed_tools":["b"],"permission_mode":"plan","max_cost_usd":1`: "Backend codex does not support allowed_tools, disallowed_tools, permission_mode, max_cost_usd",
	} {
		s := newStandIn(t)
		_, f := s.run(t.Context(), "{"+params+"}")
		if f == nil || f.Type != fault.Usage || !strings.Contains(f.Message, said) || s.calls() != 0 || strings.Contains(f.Message, "Go ") {
			t.Errorf("%s: %v after %d calls", params, f, s.calls())
		}
	}
}

func TestNotInstalled(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.env = []string{"PATH=" + s.place}
	for params, said := range map[string]string{
		`{"prompt":"p"}`:                              "npm install -g @anthropic-ai/claude-code",
		`{"prompt":"p","backend":"codex"}`:            "npm install -g @openai/codex",
		`{"prompt":"p","command":"no-such-agent -x"}`: "no-such-agent",
		`{"prompt":"p","command":"./bin"}`:            "Set command to the path",
		`{"prompt":"p","command":"~/no $agent"}`:      "~/no $agent",
	} {
		_, f := s.run(t.Context(), params)
		if f == nil || f.Type != fault.Unavailable {
			t.Errorf("%s: %v", params, f)
			continue
		}
		has(t, "the fault", f.Message+strings.Join(f.Suggestions, ""), said)
	}
}

func TestCommandHasWords(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.stream(0, "claude-hello", 0)
	s.write("work/a", "")
	s.done(`{"prompt":"p","cwd":"work","command":"./bin/claude --profile=x"}`)
	has(t, "the call", s.read("args.0"), "--profile=x\n-p\n")
	s.write("an agent's", "#!/bin/sh\nexec claude \"$@\"\n")
	if err := os.Chmod(s.place+"/an agent's", 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	s.stream(1, "claude-hello", 0)
	s.done(`{"prompt":"p","command":"~/an agent's"}`)
}

// TestDied checks that the standard error of an agent is quoted, if it ends without a message in its output.
func TestDied(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said, stream, then string
		exit               int
		kind               fault.Type
		retryable          bool
		message            string
	}{
		{"error: unknown option '--json-schema={}'", "", "", 1, fault.Unavailable, false, "too old: it does not know --json-schema"},
		{"error: unexpected argument '--output-schema' found", "", "", 2, fault.Unavailable, false, "too old: it does not know --output-schema"},
		{"Invalid API key · Please run /login", "", "", 1, fault.Unavailable, false, "Invalid API key"},
		{"You've hit your usage limit. Try again at 5 pm.", "", "", 1, fault.RateLimited, true, "hit your usage limit"},
		{"boom", "{\"type\":\"system\"}\n", "", 3, fault.Execution, false, "claude failed with exit code 3: boom"},
		{"", "", "kill -9 $$", 0, fault.Execution, false, "claude was ended by signal: killed"},
		{"", "Welcome!\n", "", 0, fault.Protocol, false, `claude ended without a result; it printed "Welcome!"`},
		{"oops", "", "", 0, fault.Protocol, false, "claude ended without a result: oops"},
		{"", "{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"done\"}", "", 4, fault.Execution, false, "claude failed with exit code 4"},
		{"", "{\"type\":\"system\",\"subtype\":\"api_retry\",\"error\":\"overloaded\",\"error_status\":529}", "", 1, fault.Unavailable, true, "did not answer: overloaded"},
		{"", "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true}", "", 0, fault.Execution, false, "claude failed: error_during_execution"},
	} {
		s := newStandIn(t)
		for name, content := range map[string]string{"said.0": c.said, "stream.0": c.stream, "then.0": c.then, "exit.0": strconv.Itoa(c.exit)} {
			if content != "" {
				s.write(name, content)
			}
		}
		_, f := s.run(t.Context(), `{"prompt":"p"}`)
		if f == nil || f.Type != c.kind || f.Retryable != c.retryable || !strings.Contains(f.Message, c.message) || len(f.Suggestions) == 0 {
			t.Errorf("%q: %+v", c.message, f)
		}
	}
}

func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.env = append(s.env, "ANTHROPIC_API_KEY=sk-ant-0123456789")
	s.write("said.0", "no: sk-ant-0123456789 and tok-abcdefgh")
	s.write("exit.0", "1")
	out, f := s.run(t.Context(), `{"prompt":"p","env":{"MY_TOKEN":"tok-abcdefgh"}}`)
	if text := asJSON(t, f) + asJSON(t, out); strings.Contains(text, "sk-ant-0") || strings.Contains(text, "tok-a") || !strings.Contains(text, "no: ") {
		t.Error(text)
	}
}

func TestTheEnvironment(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.env = append(s.env, "CLAUDECODE=1", "OTHER=kept", "OWN=old")
	s.stream(0, "claude-hello", 0)
	s.write("then.0", `printf '%s' "$CLAUDECODE/$OTHER/$OWN" >"$PLACE/env"`)
	s.done(`{"prompt":"p","env":{"OWN":"new","N":1}}`)
	if got := s.read("env"); got != "/kept/new" {
		t.Errorf("the agent's environment is %q", got)
	}
}

// TestAnEndlessLine checks that an agent that prints an endless line is stopped.
func TestAnEndlessLine(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.write("then.0", "exec yes '{' | tr -d '\\n'")
	_, f := s.run(t.Context(), `{"prompt":"p"}`)
	if f == nil || f.Type != fault.Protocol || !strings.Contains(f.Message, "a line of more than 16 MiB") {
		t.Error(f)
	}
}

// TestStopped checks that an agent that used up its time or turns is stopped with all its processes, also those that left its group.
func TestStopped(t *testing.T) {
	t.Parallel()
	const child = "%s sh -c 'echo $$ >\"$PLACE/pid\"; trap \"\" HUP; exec sleep 1000' &\nwhile [ ! -s \"$PLACE/pid\" ]; do sleep 0.01; done\n"
	for _, c := range []struct {
		name, params, stream, leave string
		kind                        fault.Type
		message                     string
	}{
		{"time", `"timeout":6`, "", "setsid", fault.Timeout, "budget of 6 seconds (timeout)"},
		{"turns", `"max_turns":1,"backend":"codex"`, `echo '{"type":"item.completed","item":{"id":"1","type":"file_change"}}'; echo '{"type":"item.started","item":{"id":"2","type":"web_search"}}'`, "", fault.Execution, "budget of 1 turn (max_turns)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStandIn(t)
			s.write("stream.0", `{"type":"system","subtype":"init","session_id":"s1","model":"m"}`+"\n"+
				`{"type":"assistant","message":{"id":"a","model":"m","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`+"\n"+
				`{"type":"assistant","message":{"id":"a","model":"m","content":[{"type":"tool_use","name":"Bash"}],"usage":{"input_tokens":3,"output_tokens":2}}}`+"\n"+
				`{"type":"system","subtype":"api_retry","attempt":2,"error_status":401,"error":"authentication_failed"}`+"\n")
			s.write("then.0", strings.Replace(child, "%s", c.leave, 1)+c.stream+"\nsleep 1000")
			out, f := s.run(t.Context(), `{"prompt":"p",`+c.params+`}`)
			if f == nil || f.Type != c.kind || !strings.Contains(f.Message, c.message) {
				t.Fatal(f)
			}
			if out.Turns != 1 {
				t.Errorf("%d turns", out.Turns)
			}
			if c.name == "time" {
				if out.SessionID != "s1" || out.LLMUsage == nil || out.LLMUsage.TotalTokens != 5 || out.LLMUsage.CostUSD != nil {
					t.Error(asJSON(t, out))
				}
				has(t, "the fault", f.Message+strings.Join(f.Suggestions, ""), "401", "/login", `resume "s1"`)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(s.read("pid")))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // an orphan that has ended exists until then
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("what it started lives: %v", err)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.write("stream.0", `{"type":"assistant","session_id":"s1","message":{"id":"a","content":[{"type":"tool_use","name":"Edit"},{"type":"tool_use","name":"Bash"}]}}`+"\n")
	s.write("then.0", "sleep 1000")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	out, _, err := agent.Run(ctx, s.params(`{"prompt":"p"}`), nil, agent.Host{
		Dir: s.place, Env: s.env,
		Progress: func(_, _ float64, message string, _ *nodetype.Usage) {
			if message == "Edit, Bash" {
				cancel(cause)
			}
		},
	})
	if !errors.Is(err, cause) || out.SessionID != "s1" {
		t.Error(asJSON(t, out), err)
	}
}
