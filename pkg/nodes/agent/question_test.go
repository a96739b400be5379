package agent_test

import (
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/nodes/nodeprogram"
)

// answered runs a task again with the answer to its question.
func (s *standIn) answered(raw, answer string) string {
	s.Helper()
	if s.question == nil {
		s.Fatal("nothing was asked")
	}
	s.answer = &nodeprogram.Answer{Text: answer, State: s.question.State}
	return asJSON(s.T, s.done(raw))
}

// TestADeniedPermissionIsAsked uses a recording of claude 2.1.197, which was denied a command.
func TestADeniedPermissionIsAsked(t *testing.T) {
	t.Parallel()
	const task = `{"prompt":"do it"}`
	s := newStandIn(t)
	s.stream(0, "claude-denied", 0)
	s.stream(1, "claude-hello", 0)
	s.done(task)
	if s.question == nil || s.question.AnyAnswer || strings.Join(s.question.Choices, " ") != "yes skip no" {
		t.Fatalf("%+v", s.question)
	}
	has(t, "the question", s.question.Text, "Bash", "echo made > made.txt", "Bash(echo made > made.txt)")
	out := s.answered(task, "yes")
	has(t, "the outputs", out, `"denied":[]`, `"turns":3`, `"result":"Hello from the local model."`)
	has(t, "the call", s.read("args.1"), "--resume=4e46ebaa-bdaa-4d29-bb31-ec8afab302d2", `--settings={"permissions":{"allow":["Bash(echo made > made.txt)"]}}`, "--max-turns=48")
	has(t, "the prompt", s.read("prompt.1"), "Bash(echo made > made.txt)")

	s = newStandIn(t)
	s.stream(0, "claude-denied", 0)
	s.done(task)
	out = s.answered(task, "skip")
	has(t, "the outputs", out, `"denied":["Bash"]`, `"turns":2`, `"result":"Hello from the local model."`)
	if s.calls() != 1 {
		t.Errorf("%d calls", s.calls())
	}
}

// TestWhatIsDeniedByTheWorkflowIsNotAsked checks the denials that nobody needs to decide about.
func TestWhatIsDeniedByTheWorkflowIsNotAsked(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]string{
		"by the mode": `,"permission_mode":"dontAsk"`, "by a rule": `,"disallowed_tools":["Bash(rm *)"]`, "an item of a batch": ``,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStandIn(t)
			if params == "" {
				s.env = append(s.env, "PFLOW_ITEM=0")
			}
			s.stream(0, "claude-denied", 0)
			if out := s.done(`{"prompt":"do it"` + params + `}`); s.question != nil || strings.Join(out.Denied, " ") != "Bash" || len(out.Result) == 0 {
				t.Errorf("asked %+v, outputs %s", s.question, asJSON(t, out))
			}
		})
	}
}

// TestTheAgentsQuestionsAreAsked uses a recording of claude 2.1.197, whose tool for questions was deferred by a hook.
func TestTheAgentsQuestionsAreAsked(t *testing.T) {
	t.Parallel()
	const task = `{"prompt":"do it","allowed_tools":["Read","AskUserQuestion"]}`
	s := newStandIn(t)
	s.stream(0, "claude-asks", 0)
	s.stream(1, "claude-hello", 0)
	s.write("then.1", `for arg; do
	case $arg in --settings=*)
		hook=$(printf '%s' "${arg#*=}" | sed 's/.*"command":"\([^"]*\)".*/\1/')
		sh -c "$hook" >"$PLACE/hook.0"; sh -c "$hook" >"$PLACE/hook.1" ;;
	esac
done
`)
	s.done(task)
	has(t, "the first call", s.read("args.0"), "--permission-prompt-tool=stdio\n", "--allowedTools=Read\n", `"matcher":"AskUserQuestion"`)
	if q := s.question; q == nil || !q.AnyAnswer || strings.Join(q.Choices, " ") != "Postgres No" {
		t.Fatalf("%+v", q)
	}
	has(t, "the question", s.question.Text, "Which database?", "Postgres: the big one")
	s.answer = &nodeprogram.Answer{Text: "No", State: s.question.State}
	s.done(task)
	if s.calls() != 1 || s.question == nil {
		t.Fatalf("%d calls, asked %+v", s.calls(), s.question)
	}
	has(t, "the second question", s.question.Text, "Which port?", "commas")
	out := s.answered(task, "1, 2")
	has(t, "the outputs", out, `"result":"Hello from the local model."`)
	has(t, "the hook's first answer", s.read("hook.0"), `"permissionDecision":"allow"`, `"Which database?":"No"`, `"Which port?":"1, 2"`, `"questions":[`)
	has(t, "the hook's next answer", s.read("hook.1"), `"permissionDecision":"defer"`)
	if p := s.read("prompt.1"); p != "" {
		t.Errorf("the prompt is %q", p)
	}
}

// TestWhatCodexDeclinesIsAsked checks the status "declined" of codex-rs/exec/src/exec_events.rs.
func TestWhatCodexDeclinesIsAsked(t *testing.T) {
	t.Parallel()
	const stream = `{"type":"thread.started","thread_id":"t-1"}
{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"rm -r build","aggregated_output":"","exit_code":null,"status":"declined"}}
{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"I could not"}}
{"type":"turn.completed","usage":{"input_tokens":20,"cached_input_tokens":5,"output_tokens":6}}
`
	const task = `{"prompt":"do it","backend":"codex","sandbox":"read-only","approval_policy":"on-request"}`
	s := newStandIn(t)
	s.write("stream.0", stream)
	s.stream(1, "codex-hello", 0)
	s.done(task)
	if s.question == nil {
		t.Fatal("nothing was asked")
	}
	has(t, "the question", s.question.Text, "rm -r build", "without sandbox")
	s.answered(task, "yes")
	if args := s.read("args.1"); !strings.Contains(args, "--dangerously-bypass-approvals-and-sandbox\nresume\nt-1\n") || strings.Contains(args, "--sandbox") || strings.Contains(args, "approval_policy") {
		t.Errorf("the call: %s", args)
	}
	s = newStandIn(t)
	s.write("stream.0", stream)
	if out := s.done(strings.Replace(task, "on-request", "never", 1)); s.question != nil || strings.Join(out.Denied, " ") != "command_execution" {
		t.Errorf("asked %+v, denied %q", s.question, out.Denied)
	}
}
