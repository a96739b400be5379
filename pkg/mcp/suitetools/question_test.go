package suitetools

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// paused is what pflow-exec status prints about a run with one question of each kind.
const paused = `{"run_id":"r01","workflow":"w","status":"paused","questions":[
	{"node":"all","question":"Which?","choices":["all","one"],"params":{"command":"rm x"}},
	{"node":"drop","question":"Drop it?","choices":["yes","no"]},
	{"node":"form","question":"Where?","choices":["no","cancel"],"fields":{"type":"object","properties":{"size":{"type":"integer"}},"required":["size"]}},
	{"node":"deep","question":"Where?","choices":["no","cancel"],"fields":{"type":"object","properties":{"at":{"type":"object"}},"required":["at"]}},
	{"node":"free","question":"Why?","choices":["because"],"any_answer":true}]}`

// askedBy returns what a run asks, as a document of pflow-exec status says it.
func askedBy(t *testing.T, document string) *standing {
	t.Helper()
	var s standing
	if err := json.Unmarshal([]byte(document), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

func TestQuestionsBecomeForms(t *testing.T) {
	t.Parallel()
	forms := askedBy(t, paused).elicitations(nil)
	for node, want := range map[string]map[string]string{
		"all":  {"properties.answer.enum": `["all","one"]`, "required": `["answer"]`},
		"drop": {"properties.answer.enum": `["yes","no"]`, "properties.answer.default": ""},
		"form": {"properties.size.type": `"integer"`, "required": `["size"]`},
		"deep": {"properties.answer.type": `"string"`, "properties.answer.enum": "", "properties.at": ""},
		"free": {"properties.answer.type": `"string"`, "properties.answer.enum": ""},
	} {
		if forms[node] == nil {
			t.Fatalf("%s is not asked: %v", node, forms)
		}
		for path, raw := range want {
			if got := gjson.GetBytes(forms[node].Schema, path).Raw; got != raw {
				t.Errorf("%s: %s is %s, want %s", node, path, got, raw)
			}
		}
		request := gjson.ParseBytes(forms[node].InputRequest())
		if request.Get("method").Str != "elicitation/create" || request.Get("params.mode").Str != "form" || request.Get("params.requestedSchema.type").Str != "object" {
			t.Error(request.Raw)
		}
	}
	if message := forms["all"].Message; !strings.Contains(message, "Which?") || !strings.Contains(message, `{"command":"rm x"}`) || !strings.Contains(message, "r01") {
		t.Error(message)
	}
}

func TestRepliesBecomeAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ node, action, content, answer string }{
		{"drop", mcpserver.Accept, `{"answer":"yes"}`, `"yes"`},
		{"drop", mcpserver.Accept, `{"answer":"no"}`, `"no"`},
		{"drop", mcpserver.Decline, ``, `"no"`},
		{"drop", mcpserver.Dismiss, ``, ``},
		{"drop", "shrug", `{"answer":"yes"}`, ``},
		{"drop", mcpserver.Accept, `{"answer":"maybe"}`, "refused"},
		{"drop", mcpserver.Accept, `{"answer":true}`, "refused"},
		{"drop", mcpserver.Accept, `{}`, "refused"},
		{"drop", mcpserver.Accept, ``, "refused"},
		{"all", mcpserver.Decline, ``, ``}, // no is not one of the answers
		{"all", mcpserver.Accept, `{"answer":"one"}`, `"one"`},
		{"form", mcpserver.Accept, `{"size":3}`, `{"size":3}`},
		{"form", mcpserver.Accept, `{"size":"3"}`, "refused"},
		{"form", mcpserver.Accept, `{"size":3,"more":1}`, "refused"},
		{"form", mcpserver.Decline, ``, `"no"`},
		{"form", mcpserver.Dismiss, ``, ``},
		{"deep", mcpserver.Accept, `{"answer":"{\"at\":{}}"}`, `"{\"at\":{}}"`},
		{"deep", mcpserver.Accept, `{"answer":"there"}`, "refused"},
		{"free", mcpserver.Accept, `{"answer":"for fun"}`, `"for fun"`},
		{"free", mcpserver.Accept, `{"answer":" "}`, "refused"},
		{"free", mcpserver.Decline, ``, ``},
	} {
		answers, f := askedBy(t, paused).answers(map[string]mcpserver.Reply{c.node: {Action: c.action, Content: []byte(c.content)}, "other": {Action: mcpserver.Accept}}, time.Now().Add(-time.Minute))
		switch {
		case f != nil:
			if c.answer != "refused" || f.Node != c.node {
				t.Errorf("%s, %s %s: %v", c.node, c.action, c.content, f)
			}
		case string(answers[c.node]) != c.answer || len(answers) > 1:
			t.Errorf("%s, %s %s: %s", c.node, c.action, c.content, answers)
		}
	}
}

// Nobody reads a question in a fraction of a second: who declines it so fast has not shown it. To accept is taken as it is.
func TestADeclineAtOnceIsNoAnswer(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{mcpserver.Decline: "", mcpserver.Accept: `"yes"`} {
		reply := mcpserver.Reply{Action: action, Content: []byte(`{"answer":"yes"}`)}
		answers, f := askedBy(t, paused).answers(map[string]mcpserver.Reply{"drop": reply}, time.Now().Add(time.Hour))
		if f != nil || string(answers["drop"]) != want {
			t.Errorf("%s at once answers %s, %v; want %q", action, answers, f, want)
		}
	}
}

func TestAQuestionIsBoundedAndLegible(t *testing.T) {
	t.Parallel()
	q := question{Node: "a", Text: "Drop\x1b[2J \u202eit?" + strings.Repeat("x", 10_000), Params: []byte(`{"command":"` + strings.Repeat("é", 10_000) + `"}`)}
	message := q.elicitation("r01", []byte(`"`+strings.Repeat("z", 10_000)+`"`)).Message
	if len(message) > 3*maxQuestion+300 || !strings.HasPrefix(message, "Drop[2J it?x") || strings.ContainsAny(message, "\x1b\u202e") {
		t.Errorf("%d bytes: %.100q", len(message), message)
	}
}

func TestFewQuestionsAreAskedAtOnce(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-exec", `echo '{"run_id":"r01","status":"paused","questions":[`+strings.TrimSuffix(strings.Repeat(`{"node":"n","question":"?","choices":["yes"]},`, 50), ",")+`]}'`)
	if asked, failed := standingOf(t.Context(), f.front(), "r01"); failed != nil || len(asked.Questions) != maxAsked {
		t.Error(asked, failed)
	}
}
