package suite

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// asksBeforeDropping is a workflow that asks before its second node.
const asksBeforeDropping = `{"inputs":{"what":{"type":"string","default":"it"}},
	"nodes":[{"id":"count","type":"shell","params":{"command":"echo counted >> counted; printf 2"}},
		{"id":"drop","type":"shell","approval":{"question":"Drop ${what}?"},"params":{"command":"echo dropped ${count.stdout}","env":{"API_KEY":"sk-live-0123456789abcdef"}}}],
	"edges":[{"from":"count","to":"drop"}],"outputs":{"said":{"source":"${drop.stdout}"}}}`

// elicited reads messages up to a question, and returns its id and its params.
func (c *client) elicited() (id float64, params gjson.Result) {
	c.Helper()
	for {
		message := c.receive()
		if message["method"] == "elicitation/create" {
			raw, _ := json.Marshal(message["params"])
			return message["id"].(float64), gjson.ParseBytes(raw)
		}
		if message["id"] == float64(c.id) {
			c.Fatalf("the call is answered without a question: %v", message)
		}
	}
}

// reply answers a question.
func (c *client) reply(id float64, result string) {
	c.Helper()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":%s}`, id, result))
}

// decide replies as a person does, who takes time to read: a reply at once is a program's.
func (c *client) decide(id float64, result string) {
	c.Helper()
	<-time.After(400 * time.Millisecond)
	c.reply(id, result)
}

// runs returns how many runs the home has.
func (p *place) runs() int64 {
	p.Helper()
	return gjson.Get(p.must("pflow-exec", "list", "--format", "json"), "#").Int()
}

// Each tool that waits for a run asks the person in front of the client, and returns what the run does with the answer.
func TestTheClientAsksThePerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tool, arguments, question string }{
		"execute":       {"execute", `{"name":"asks","inputs":{"what":"all"}}`, "Drop all?"},
		"resume":        {"execute", `{"name":"asks","resume":"RUN"}`, "Drop it?"},
		"run_wait":      {"run_wait", `{"run_id":"RUN"}`, "Drop it?"},
		"run_resume":    {"run_resume", `{"run_id":"RUN"}`, "Drop it?"},
		"workflow tool": {"asks", `{"what":"some"}`, "Drop some?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/library/asks.json", asksBeforeDropping)
			arguments, runs := c.arguments, int64(2)
			if strings.Contains(arguments, "RUN") {
				started := gjson.Get(p.must("pflow-exec", "start", "--name", "asks"), "run_id").Str
				p.run("pflow-exec", "wait", started)
				arguments = strings.Replace(arguments, "RUN", started, 1)
			}
			s := p.connectAs(`{"elicitation":{}}`, "pflow-serve", "--toolsets", "core,workflows")
			s.request(c.tool, arguments)
			id, form := s.elicited()
			if message := form.Get("message").Str; !strings.Contains(message, c.question) || !strings.Contains(message, "echo dropped 2") || !strings.Contains(message, "<redacted>") || strings.Contains(message, "sk-live") {
				t.Error(message)
			}
			if answer := form.Get("requestedSchema.properties.answer"); answer.Get("enum").Raw != `["yes","no"]` || answer.Get("default").Exists() {
				t.Error(form.Raw)
			}
			s.reply(id, `{"action":"accept","content":{"answer":"yes"}}`)
			answer, failed := s.answer()
			if outputs, _ := answer["outputs"].(map[string]any); failed || answer["status"] != "completed" || fmt.Sprint(outputs["said"]) != "dropped 2" {
				t.Error(answer)
			}
			if p.runs() != runs || p.read("counted") != "counted\n" {
				t.Errorf("%d runs, counted %q", p.runs(), p.read("counted"))
			}
			s.leave()
		})
	}
}

// A person may decline, dismiss the question, or answer what cannot be.
func TestRepliesThatDoNotApprove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reply, status, error string }{
		"declined":      {`{"action":"decline"}`, "denied", ""},
		"answered no":   {`{"action":"accept","content":{"answer":"no"}}`, "denied", ""},
		"dismissed":     {`{"action":"cancel"}`, "paused", ""},
		"another word":  {`{"action":"accept","content":{"answer":"maybe"}}`, "paused", ""},
		"without words": {`{"action":"accept"}`, "<nil>", "usage_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/library/asks.json", asksBeforeDropping)
			s := p.connectAs(`{"elicitation":{"form":{}}}`, "pflow-serve")
			s.request("execute", `{"name":"asks"}`)
			id, _ := s.elicited()
			s.decide(id, c.reply)
			answer, failed := s.answer()
			fault, _ := answer["error"].(map[string]any)
			if !failed || fmt.Sprint(answer["status"]) != c.status || c.error != "" && fault["type"] != c.error {
				t.Error(answer)
			}
			if status := gjson.Get(p.run("pflow-exec", "status", "last").stdout, "status").Str; c.status != "denied" && status != "paused" {
				t.Error(status)
			}
		})
	}
}

// The answers of a model are only proposals to the person, whose no stands until a person says yes.
func TestTheModelOnlyProposes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/library/asks.json", asksBeforeDropping)
	s := p.connectAs(`{"elicitation":{}}`, "pflow-serve", "--toolsets", "core,runs")
	ask := func(tool, arguments, reply string) (status any) {
		t.Helper()
		s.request(tool, arguments)
		id, form := s.elicited()
		if message := form.Get("message").Str; !strings.Contains(message, "The agent proposes: yes") {
			t.Errorf("the message has no proposal: %s", message)
		}
		s.decide(id, reply)
		answer, _ := s.answer()
		return answer["status"]
	}
	last := func() string { return gjson.Get(p.run("pflow-exec", "status", "last").stdout, "run_id").Str }
	if status := ask("execute", `{"name":"asks","answers":{"drop":"yes"}}`, `{"action":"cancel"}`); status != "paused" {
		t.Errorf("put off: %v", status)
	}
	if status := ask("execute", fmt.Sprintf(`{"name":"asks","resume":%q,"answers":{"drop":"yes"}}`, last()), `{"action":"decline"}`); status != "denied" || p.runs() != 2 {
		t.Errorf("declined: %v, %d runs", status, p.runs())
	}
	if status := ask("execute", fmt.Sprintf(`{"name":"asks","resume":%q,"answers":{"drop":"yes"}}`, last()), `{"action":"cancel"}`); status != "paused" {
		t.Errorf("put off after a no: %v", status)
	}
	other := p.connect("pflow-serve")
	other.request("execute", fmt.Sprintf(`{"name":"asks","resume":%q,"answers":{"drop":"yes"}}`, last()))
	if answer, failed := other.answer(); !failed || fmt.Sprint(answer["error"].(map[string]any)["type"]) != "usage_error" {
		t.Errorf("the model of a client without forms after a no: %v", answer)
	}
	other.leave()
	if status := ask("run_resume", fmt.Sprintf(`{"run_id":%q,"answers":{"drop":"yes"}}`, last()), `{"action":"accept","content":{"answer":"yes"}}`); status != "completed" {
		t.Errorf("accepted: %v", status)
	}
	events := p.must("pflow-exec", "events", "last")
	if by := gjson.Get(events, `..#(event=="approval_resolved").by`).Str; !strings.HasPrefix(by, "a person at ") || !gjson.Get(events, `..#(event=="approval_resolved").person`).Bool() {
		t.Errorf("the answer is by %q: %s", by, events)
	}
	s.leave()
}

// A client that declines at once, before a person can have read the question, leaves the run paused.
func TestAClientThatDeclinesByItself(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/library/asks.json", asksBeforeDropping)
	s := p.connectAs(`{"elicitation":{}}`, "pflow-serve")
	p.eventually("a reply at once that declines leaves the run paused", func() bool { // on a busy machine it may be too slow
		s.request("execute", `{"name":"asks"}`)
		id, _ := s.elicited()
		s.reply(id, `{"action":"decline"}`)
		answer, _ := s.answer()
		return answer["status"] == "paused" && strings.Contains(fmt.Sprint(answer["next"]), "Nobody has answered")
	})
	s.leave()
}

// A client that has not declared elicitation for forms gets the answer that shows how to give answers.
func TestAClientThatCannotAsk(t *testing.T) {
	t.Parallel()
	for _, capabilities := range []string{`{}`, `{"elicitation":{"url":{}}}`} {
		p := newPlace(t)
		p.write("home/library/asks.json", asksBeforeDropping)
		s := p.connectAs(capabilities, "pflow-serve")
		answer, failed := s.call("execute", `{"name":"asks"}`)
		run, _ := answer["run_id"].(string)
		if next := fmt.Sprint(answer["next"], answer["resume"]); !failed || answer["status"] != "paused" || !strings.Contains(next, run) || !strings.Contains(next, `answers {"drop": ANSWER}`) {
			t.Fatal(answer)
		}
		if answer, failed = s.call("execute", fmt.Sprintf(`{"name":"asks","resume":%q,"answers":{"drop":"yes"}}`, run)); failed || answer["status"] != "completed" {
			t.Error(answer)
		}
		s.leave()
	}
}

// Of several questions each is asked, until one is denied or dismissed.
func TestSeveralQuestions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replies []string
		status  string
	}{
		"all":       {[]string{`{"action":"accept","content":{"answer":"yes"}}`, `{"action":"accept","content":{"answer":"blue"}}`}, "completed"},
		"denied":    {[]string{`{"action":"decline"}`}, "denied"},
		"dismissed": {[]string{`{"action":"accept","content":{"answer":"yes"}}`, `{"action":"cancel"}`}, "paused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/library/asks.json", twoQuestions)
			s := p.connectAs(`{"elicitation":{}}`, "pflow-serve")
			s.request("execute", `{"name":"asks"}`)
			for i, reply := range c.replies {
				id, form := s.elicited()
				if want := []string{"Drop it?", "Which colour?"}[i]; !strings.HasPrefix(form.Get("message").Str, want) {
					t.Error(form.Raw)
				}
				s.decide(id, reply)
			}
			if answer, _ := s.answer(); answer["status"] != c.status {
				t.Error(answer)
			}
			open := gjson.Get(p.must("pflow-exec", "status", "last"), "questions.#.node").Raw
			if c.status == "paused" && open != `["paint"]` {
				t.Errorf("open: %s", open)
			}
			s.leave()
		})
	}
}

// withdrawn reads messages up to the notice that a question is withdrawn.
func (c *client) withdrawn(id float64) {
	c.Helper()
	for {
		message := c.receive()
		params, _ := message["params"].(map[string]any)
		if message["method"] == "notifications/cancelled" && params["requestId"] == id {
			return
		}
		if message["id"] == float64(c.id) {
			c.Fatalf("the call is answered before the question is withdrawn: %v", message)
		}
	}
}

// A question that is answered elsewhere is withdrawn, and the call goes on with that answer.
func TestAQuestionIsAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/library/asks.json", asksBeforeDropping)
	s := p.connectAs(`{"elicitation":{}}`, "pflow-serve")
	s.request("execute", `{"name":"asks"}`)
	id, _ := s.elicited()
	p.must("pflow-exec", "resume", "last", "--approve", "yes")
	answer, failed := map[string]any{}, true
	for withdrawn := false; !withdrawn || answer["status"] == nil; {
		message := s.receive()
		params, _ := message["params"].(map[string]any)
		result, _ := message["result"].(map[string]any)
		switch {
		case message["method"] == "notifications/cancelled" && params["requestId"] == id:
			withdrawn = true
		case message["id"] == float64(s.id):
			answer, _ = result["structuredContent"].(map[string]any)
			failed, _ = result["isError"].(bool)
		}
	}
	if failed || answer["status"] != "completed" || p.runs() != 2 {
		t.Error(answer, p.runs())
	}
	s.leave()
}

// A client that cancels the call while it asks withdraws nothing from the run, which stays paused.
func TestACallIsCancelledWhileItAsks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/library/asks.json", asksBeforeDropping)
	s := p.connectAs(`{"elicitation":{}}`, "pflow-serve")
	call := s.request("execute", `{"name":"asks"}`)
	id, _ := s.elicited()
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"Request timed out"}}`, call))
	s.withdrawn(id)
	s.reply(id, `{"action":"accept","content":{"answer":"yes"}}`)                 // too late
	if answer, failed := s.call("describe_workflow", `{"name":"asks"}`); failed { // after which the server has seen the reply
		t.Error(answer)
	}
	if status := p.must("pflow-exec", "status", "last"); gjson.Get(status, "status").Str != "paused" || p.runs() != 1 {
		t.Error(status)
	}
	s.leave()
}

// A client that closes its end while a person is asked gets the paused answer, and the server ends.
func TestTheInputEndsWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/library/asks.json", asksBeforeDropping)
	s := p.connectAs(`{"elicitation":{}}`, "pflow-serve")
	s.request("execute", `{"name":"asks"}`)
	s.elicited()
	_ = s.stdin.Close()
	if answer, failed := s.answer(); !failed || answer["status"] != "paused" {
		t.Error(answer)
	}
	rest, _ := io.ReadAll(s.stdout)
	if err := s.cmd.Wait(); err != nil || len(rest) > 0 {
		t.Errorf("the server ends with %v and %q", err, rest)
	}
}
