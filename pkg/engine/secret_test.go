package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
)

// secretly sets the input key, which is a secret.
func secretly(c *engine.Config) {
	c.Inputs["key"] = json.RawMessage(`"correct-horse"`)
	c.Redactor.Add("key", "correct-horse")
}

func TestASecretInAnOutputIsWholeInTheRunAndFetchedAgainAfterwards(t *testing.T) {
	b := newBench(t)
	def := func(end string) string {
		return `{"inputs":{"key":{"type":"string","secret":true}},"nodes":[` +
			shellNode("login", `echo login >> ran; echo "session ${key}"`) + `,` + shellNode("plain", "echo plain >> ran; echo ${login.exit_code}") + `,` +
			shellNode("use", `test "${login.stdout}" = "session correct-horse" && echo used`+end) + `]}`
	}
	first := b.play(t.Context(), def("; false"), secretly)
	if bytes.Contains(bytes.Join(first.lines, nil), []byte("correct-horse")) {
		t.Error("the secret is in the journal")
	}
	second := b.play(t.Context(), def(""), secretly, first.whole(b))
	if second.last.Status != event.Completed || second.nodes(event.NodeReused) != "login plain" || second.nodes(event.NodeCompleted) != "login use" {
		t.Errorf("%s: reused %q, ran %q, %v", second.last.Status, second.nodes(event.NodeReused), second.nodes(event.NodeCompleted), second.last.Error)
	}
	if b.file("ran") != "login\nplain\nlogin\n" {
		t.Errorf("ran %q", b.file("ran"))
	}
	third := b.play(t.Context(), def(""), secretly, second.whole(b))
	if *third.last.NodesExecuted != 0 {
		t.Errorf("%d nodes ran again, and none reads the secret", *third.last.NodesExecuted)
	}
}

// A node that waits for a refreshed secret keeps what it has: a person's answer, its items and inner nodes.
func TestWhatWaitsForASecretKeepsWhatItHas(t *testing.T) {
	s, b := newService(t), newBench(t)
	s.answer = func(path string, n int, _ <-chan struct{}) (int, string) {
		if path == "correct-horse-2" && n == 1 {
			return http.StatusTeapot, "{}"
		}
		return http.StatusOK, "{}"
	}
	def := `{"inputs":{"key":{"secret":true}},"nodes":[` + shellNode("login", `echo "${key}"`) + `,
		{"id":"gate","type":"echo","params":{"message":"${login.stdout} ${__answer__}"},"approval":true},` +
		s.node("each", "${login.stdout}-${item}", `,"timeout":1000,"batch":{"items":[1,2,3]}`) + `,
		{"id":"sub","type":"workflow","params":{"inputs":{"k":"${login.stdout}"},"workflow":{"inputs":{"k":{}},"nodes":[` + s.node("one", "one", "") + `,` + s.node("two", "${k}-2", "") + `]}}}]}`
	asks := 0
	yes := func(c *engine.Config) {
		c.Ask = func(context.Context, engine.Question) (string, string, error) { asks++; return "yes", "t", nil }
	}
	first := b.play(t.Context(), def, secretly, yes, func(c *engine.Config) { c.Jobs, c.KeepGoing = 1, true })
	first.ended(t, event.Failed)
	cut := len(first.events)
	for i, e := range first.events { // before the gate's node ran
		if e.Event == event.NodeStarted && e.Node == "gate" {
			cut = i
		}
	}
	for _, from := range []int{len(first.events), cut} {
		s.forget()
		asks = 0
		second := b.play(t.Context(), def, secretly, yes, first.from(b, from))
		second.ended(t, event.Completed)
		if got := second.get("gate.echo"); asks != 0 || got != `"<redacted> yes"` {
			t.Errorf("asked %d times, %s", asks, got)
		}
		if bytes.Contains(bytes.Join(second.lines, nil), []byte("correct-horse")) {
			t.Error("the secret is in the journal")
		}
		if from == len(first.events) {
			if got := strings.Join(s.called(), " "); got != "correct-horse-2 correct-horse-3" {
				t.Errorf("called %s", got)
			}
		}
	}
}

// A loop that runs again for its secret begins with the first iteration.
func TestALoopThatRunsAgainForItsSecretBeginsAnew(t *testing.T) {
	b := newBench(t)
	def := func(end string) string {
		return `{"inputs":{"key":{"secret":true}},"nodes":[{"id":"l","type":"shell","params":{"inputs":{"had":"${l.stdout ?? \"nothing\"}"},"command":"echo \"${had}\" >> ran; echo \"${key}${__iteration__}\""},
			"loop":{"until":"${limit.data[${__iteration__}]}","carry":{"had":"${l.stdout}"}}},{"id":"limit","type":"echo","params":{"data":[0,0,1]}},
			{"id":"use","type":"shell","params":{"command":"test \"${l.stdout}\" = \"${key}2\"` + end + `"}}]}`
	}
	first := b.play(t.Context(), def("; false"), secretly)
	second := b.play(t.Context(), def(""), secretly, first.whole(b))
	second.ended(t, event.Completed)
	if got := b.file("ran"); got != "nothing\ncorrect-horse1\nnothing\ncorrect-horse1\n" {
		t.Errorf("ran %q", got)
	}
}

// A loop cannot be resumed from an iteration whose outputs, or carried values, miss a secret: it begins anew.
func TestALoopGoesOnOnlyWithItsSecrets(t *testing.T) {
	const login = `{"id":"login","type":"shell","params":{"command":"echo \"${key}\""}}`
	for name, c := range map[string]struct{ loop, ran string }{
		"in its outputs":     {`{"id":"l","type":"shell","params":{"inputs":{"had":"none"},"command":"echo \"${had}\" >> ran; echo \"${key}\""},"loop":{"until":"${limit.data[${__iteration__}]}","carry":{"had":"${l.stdout}"}}}`, "none\ncorrect-horse\n"},
		"in what is carried": {`{"id":"l","type":"shell","params":{"inputs":{"had":"none"},"command":"echo \"${had}\" >> ran"},"loop":{"until":"${limit.data[${__iteration__}]}","carry":{"had":"${login.stdout}"}}}`, "none\ncorrect-horse\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			def := `{"inputs":{"key":{"secret":true}},"nodes":[` + login + `,` + c.loop + `,{"id":"limit","type":"echo","params":{"data":[0,0,1]}}]}`
			first := b.play(t.Context(), def, secretly)
			cut := slices.IndexFunc(first.events, func(e *event.Event) bool { return e.Event == event.IterationCompleted }) + 1
			if err := os.Remove(filepath.Join(b.dir, "ran")); err != nil {
				t.Fatal(err)
			}
			second := b.play(t.Context(), def, secretly, first.from(b, cut))
			second.ended(t, event.Completed)
			if got := b.file("ran"); got != c.ran {
				t.Errorf("ran %q", got)
			}
		})
	}
}

// The outputs of a sub-workflow miss the secrets that its nodes' outputs miss, and its event says so.
func TestASubWorkflowThatLacksASecret(t *testing.T) {
	s, b := failing(t), newBench(t)
	b.saved["sub"] = `{"inputs":{"k":{}},"nodes":[{"id":"tell","type":"echo","params":{"data":"${k}"}},` + s.node("call", "${k}", "") + `,{"id":"last","type":"echo"}],
		"edges":[{"from":"tell","to":"call"},{"from":"call","to":"last"}],"outputs":{"k":{"source":"${tell.data}"}}}`
	def := func(end string) string {
		return `{"inputs":{"key":{"secret":true}},"nodes":[{"id":"s","type":"workflow","params":{"workflow":"sub","inputs":{"k":"${key}"}}},` + shellNode("use", `test "${s.k}" = "${key}"`+end) + `]}`
	}
	first := b.play(t.Context(), def("; false"), secretly)
	cut := slices.IndexFunc(first.events, func(e *event.Event) bool { return e.Event == event.NodeCompleted && e.Node == "s/call" }) + 1
	second := b.play(t.Context(), def("; false"), secretly, first.from(b, cut)) // reuses tell as it was written
	for _, e := range second.of(event.NodeCompleted) {
		if e.Node == "s" && (!e.Redacted || strings.Contains(string(e.Outputs), "correct-horse")) {
			t.Errorf("%+v", e)
		}
	}
	third := b.play(t.Context(), def(""), secretly, second.whole(b))
	third.ended(t, event.Completed)
}
