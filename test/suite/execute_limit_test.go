package suite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// executed sends a call of execute and returns its result as the client receives it.
func (c *client) executed(arguments string) gjson.Result {
	c.Helper()
	id := c.request("execute", arguments)
	for {
		line, err := c.stdout.ReadString('\n')
		if err != nil {
			c.Fatal(err)
		}
		if message := gjson.Parse(line); message.Get("id").Int() == int64(id) {
			return message.Get("result")
		}
	}
}

// The answers of execute stay within 8,192 bytes, whatever the run returns, unless the client asks for everything.
func TestExecuteAnswersAreBounded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	outputs, failing, edges := []string{`"all":{"source":"${list.result}"}`}, []string{}, []string{}
	for i := range 1000 {
		outputs = append(outputs, fmt.Sprintf(`"o%d":{"source":"${list.result[%d]}"}`, i, i))
		failing = append(failing, fmt.Sprintf(`{"id":"a-node-with-a-long-name-%d","type":"echo","params":{"message":"x"}}`, i))
		edges = append(edges, fmt.Sprintf(`{"from":"a-node-with-a-long-name-%d","to":"last"}`, i))
	}
	p.draft("outputs", `{"nodes":[{"id":"list","type":"code","params":{"language":"python","code":"result: list = list(range(20000))"}}],"outputs":{`+strings.Join(outputs, ",")+`}}`)
	p.draft("fails", `{"nodes":[`+strings.Join(failing, ",")+`,{"id":"last","type":"shell","params":{"command":"seq 20000; seq 20000 >&2; exit 3"}}],"edges":[`+strings.Join(edges, ",")+`]}`)
	c := p.connect("pflow-serve")
	r := c.executed(`{"name":"outputs"}`)
	doc, text := r.Get("structuredContent"), r.Get("content.0.text").Str
	run := doc.Get("run_id").Str
	if len(doc.Raw) > 8192 || len(text) > 1024 || doc.Get("outputs_total").Int() != 1001 || doc.Get("status").Str != "completed" || !strings.Contains(text, run) {
		t.Errorf("%d bytes, and as text %q: %.500s", len(doc.Raw), text, doc.Raw)
	}
	uri := doc.Get("outputs.all.uri").Str
	c.send(`{"jsonrpc":"2.0","id":"read","method":"resources/read","params":{"uri":"` + uri + `"}}`)
	read, err := c.stdout.ReadString('\n')
	if all := gjson.Get(read, "result.contents.0.text").Str; err != nil || len(gjson.Parse(all).Array()) != 20000 {
		t.Errorf("%s is %.100s", uri, all)
	}
	whole := c.executed(`{"name":"outputs","resume":"` + run + `","max_output_chars":0}`).Get("structuredContent")
	if whole.Get("run_id").Str != run || len(whole.Get("outputs").Map()) != 1001 || len(whole.Get("outputs.all").Array()) != 20000 {
		t.Errorf("with max_output_chars 0 it has %d bytes: %.300s", len(whole.Raw), whole.Raw)
	}
	doc = c.executed(`{"name":"fails"}`).Get("structuredContent")
	if k := doc.Get("checkpoint"); len(doc.Raw) > 8192 || doc.Get("error.node").Str != "last" || doc.Get("error.details.exit_code").Int() != 3 ||
		k.Get("failed_node").Str != "last" || k.Get("run_id").Str != doc.Get("run_id").Str || len(k.Get("completed_nodes").Array()) == 0 {
		t.Errorf("%d bytes: %.1000s", len(doc.Raw), doc.Raw)
	}
	c.leave()
}

// A call that goes on from a paused run without an answer gets the question again; with an answer it goes on.
func TestExecuteAnswersAQuestion(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("ask", `{"nodes":[{"id":"before","type":"shell","params":{"command":"echo before >> ran.txt"}},
		{"id":"drop","type":"shell","approval":{"question":"Drop it?"},"params":{"command":"echo dropped >> ran.txt"}}],"edges":[{"from":"before","to":"drop"}]}`)
	c := p.connect("pflow-serve")
	first, failed := c.call("execute", `{"name":"ask"}`)
	status, run := statusOf(first)
	if hints := fmt.Sprint(first["next"]); !failed || status != "paused" || !strings.Contains(hints, "answers") || !strings.Contains(hints, run) {
		t.Fatalf("asks with %v", first)
	}
	if again, _ := c.call("execute", `{"name":"ask","resume":"`+run+`"}`); again["run_id"] != run || again["status"] != "paused" {
		t.Errorf("asked again it answers %v", again)
	}
	if refused, failed := c.call("execute", `{"name":"ask","resume":"`+run+`","answers":{"drop":"maybe"}}`); !failed || !strings.Contains(fmt.Sprint(refused["error"]), "usage_error") {
		t.Errorf("another answer: %v", refused)
	}
	if done, failed := c.call("execute", `{"name":"ask","resume":"`+run+`","answers":{"drop":"yes"}}`); failed || done["status"] != "completed" {
		t.Errorf("answered it is %v", done)
	}
	if got := p.read("ran.txt"); got != "before\ndropped\n" {
		t.Errorf("%q ran", got)
	}
	c.leave()
}
