package suite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// twoQuestions asks about two nodes at once, with a secret in the parameters of one.
const twoQuestions = `{"nodes":[
	{"id":"drop","type":"shell","approval":{"question":"Drop it?"},"params":{"command":"echo dropped","env":{"API_KEY":"sk-live-0123456789abcdef"}}},
	{"id":"paint","type":"shell","approval":{"question":"Which colour?","choices":["red","blue","no"]},"params":{"command":"echo ${__answer__}"}}]}`

// The status of a paused run has its open questions, without secrets, until another run goes on from it.
func TestStatusHasTheOpenQuestions(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", twoQuestions)
	if o := p.run("pflow-exec", "run", "w.json"); o.exit != 4 {
		t.Fatal(o)
	}
	asked := gjson.Get(p.must("pflow-exec", "status", "last"), "questions")
	if asked.Get("#").Int() != 2 || asked.Get("0.node").Str != "drop" || asked.Get("0.question").Str != "Drop it?" || asked.Get("0.choices").Raw != `["yes","no"]` ||
		asked.Get("0.params.command").Str != "echo dropped" || asked.Get("0.params.env.API_KEY").Str != "<redacted>" || asked.Get("1.choices.#").Int() != 3 {
		t.Error(asked.Raw)
	}
	if text := p.must("pflow-exec", "status", "last", "--format", "text"); !strings.Contains(text, "\npaint asks: Which colour? [red/blue/no]\n") {
		t.Error(text)
	}
	p.run("pflow-exec", "resume", "last", "--approve", "drop=yes")
	if asked := gjson.Get(p.must("pflow-exec", "status", "last"), "questions.#.node").Raw; asked != `["paint"]` {
		t.Errorf("after one answer: %s", asked)
	}
	paused := gjson.Get(p.must("pflow-exec", "status", "last"), "run_id").Str
	p.must("pflow-exec", "resume", paused, "--approve", "red")
	for _, run := range []string{paused, "last"} {
		if asked := gjson.Get(p.must("pflow-exec", "status", run), "questions"); asked.Exists() {
			t.Errorf("%s asks %s", run, asked.Raw)
		}
	}
}

// However much a run asks, its status has at most the size that is asked for.
func TestQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var nodes []string
	for i := range 100 {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"echo","approval":{"question":"%s"},"params":{"message":"%s"}}`, i, strings.Repeat("Really? ", 100), strings.Repeat("x", 5000)))
	}
	p.write("w.json", `{"nodes":[`+strings.Join(nodes, ",")+`]}`)
	p.run("pflow-exec", "run", "w.json")
	status := p.must("pflow-exec", "status", "last", "--max-bytes", "8192")
	if asked := gjson.Get(status, "questions.#").Int(); len(status) > 8192 || asked == 0 || asked >= 100 || gjson.Get(status, "questions_total").Int() != 100 {
		t.Errorf("%d bytes: %s", len(status), status)
	}
}
