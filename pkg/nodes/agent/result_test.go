package agent_test

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodes/agent"
)

// TestWhatAResultIs checks that a result is text or another JSON value, and that an agent without a result fails.
func TestWhatAResultIs(t *testing.T) {
	t.Parallel()
	const claude, codex = `{"type":"result","subtype":"success",%}`, `{"type":"item.completed","item":{"id":"1","type":"agent_message",%}}` + "\n" + `{"type":"turn.completed"}`
	for _, c := range []struct{ backend, stream, said, schema, want string }{
		{"claude", claude, `"result":"text"`, "", `"text"`},
		{"claude", claude, `"result":""`, "", `""`},
		{"claude", claude, `"result":{"a":1}`, "", `{"a":1}`},
		{"claude", claude, `"result":[1,"x"]`, "", `[1,"x"]`},
		{"claude", claude, `"result":7`, "", `7`},
		{"claude", claude, `"result":{"answer":1}`, `,"output_schema":` + schema, `{"answer":1}`},
		{"claude", claude, `"result":null,"structured_output":{"answer":2}`, `,"output_schema":` + schema, `{"answer":2}`},
		{"claude", claude, `"result":null`, "", ""},
		{"claude", claude, `"session_id":"s"`, "", ""},
		{"codex", codex, `"text":{"a":1}`, "", `{"a":1}`},
		{"codex", codex, `"text":null`, "", ""},
	} {
		s := newStandIn(t)
		s.write("stream.0", strings.Replace(c.stream, "%", c.said, 1)+"\n")
		out, f := s.run(t.Context(), `{"prompt":"p","backend":"`+c.backend+`"`+c.schema+`}`)
		switch {
		case c.want == "" && (f == nil || f.Type != fault.Protocol || !strings.Contains(f.Message, "without a result") || out.Result != nil):
			t.Errorf("%s: %v, %s", c.said, f, asJSON(t, out))
		case c.want != "" && (f != nil || string(out.Result) != c.want):
			t.Errorf("%s: %v, %s, want %s", c.said, f, asJSON(t, out), c.want)
		}
	}
}

// TestItLingers checks that an agent that does not end after its result is stopped with its processes, and that the result is valid.
func TestItLingers(t *testing.T) {
	t.Parallel()
	const result = `{"type":"result","subtype":"success","result":"done","session_id":"s1","usage":{"input_tokens":3}}`
	for name, c := range map[string]struct {
		stream, params string
		linger         time.Duration
		want           string
	}{
		"after its result":       {result, `"timeout":600`, time.Millisecond, "done"},
		"until the time is over": {result, `"timeout":5`, time.Hour, "done"},
		"codex":                  {`{"type":"item.completed","item":{"type":"agent_message","text":"did"}}` + "\n" + `{"type":"turn.completed"}`, `"backend":"codex","timeout":600`, time.Millisecond, "did"},
		"after a failure":        {`{"type":"result","subtype":"error_during_execution","is_error":true,"result":"broken"}`, `"timeout":600`, time.Millisecond, ""},
		"with work begun after":  {result + "\n" + `{"type":"assistant","message":{"id":"b","content":[{"type":"tool_use","name":"Bash"}]}}`, `"timeout":5`, time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStandIn(t)
			s.write("then.0", "sleep 1000 &\necho $! >\"$PLACE/pid\"\ncat <<'END'\n"+c.stream+"\nEND\nwait")
			out, _, err := agent.Run(t.Context(), s.params(`{"prompt":"p",`+c.params+`}`), nil, agent.Host{Dir: s.place, Env: s.env, Stderr: io.Discard, Linger: c.linger})
			if c.want == "" {
				if f := fault.From(err); f == nil {
					t.Errorf("there is no fault: %s", asJSON(t, out))
				}
				return
			}
			if err != nil || string(out.Result) != strconv.Quote(c.want) {
				t.Fatal(asJSON(t, out), err)
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

// TestACutSecret checks that a secret is redacted even if the quoted end of standard error begins in the middle of it.
func TestACutSecret(t *testing.T) {
	t.Parallel()
	const secret = "tok-abcdefghijklmnopqrstuvwxyz"
	s := newStandIn(t)
	s.write("said.0", strings.Repeat("x", 100)+secret+strings.Repeat("y", 2000-10))
	s.write("exit.0", "1")
	_, f := s.run(t.Context(), `{"prompt":"p","env":{"MY_TOKEN":"`+secret+`"}}`)
	if f == nil || !strings.Contains(f.Message, "…") || strings.Contains(asJSON(t, f), "uvwxyz") {
		t.Error(f)
	}
}

// TestWhatAnAgentCounts checks that impossible counts are dropped.
func TestWhatAnAgentCounts(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.write("stream.0", `{"type":"result","subtype":"success","result":"x","usage":{"input_tokens":-5,"output_tokens":1e308},"total_cost_usd":1e308}`)
	out := s.done(`{"prompt":"p"}`)
	if u := out.LLMUsage; u == nil || u.TotalTokens != 0 || u.CostUSD != nil {
		t.Error(asJSON(t, out))
	}
}

// TestASchemaThatIsRefused checks that no agent is called with a schema that leads back to itself.
func TestASchemaThatIsRefused(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	_, f := s.run(t.Context(), `{"prompt":"p","output_schema":{"allOf":[{"$ref":"#"}]}}`)
	if f == nil || f.Type != fault.Usage || f.Path != "params.output_schema" || !strings.Contains(f.Message, "/allOf/0/$ref") || s.calls() != 0 {
		t.Error(f, s.calls())
	}
}
