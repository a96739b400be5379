package suite

import (
	"fmt"
	"testing"
)

// The form with which an MCP server asks during a node reaches the person in front of the client, and the values reach the server.
func TestAServersFormReachesThePerson(t *testing.T) {
	t.Parallel()
	for reply, said := range map[string]string{
		`{"action":"accept","content":{"repo":"a=b","private":true}}`: `accept {"private":true,"repo":"a=b","stars":3}`, // with the default of the form
		`{"action":"decline"}`: "decline null",
	} {
		p := newPlace(t)
		p.protocol("stdio")
		p.write("home/library/makes.json", creates)
		c := p.connectAs(`{"elicitation":{}}`, "pflow-serve")
		c.request("execute", `{"name":"makes"}`)
		id, form := c.elicited()
		if fields := form.Get("requestedSchema.properties"); fields.Get("repo.type").Str != "string" || fields.Get("answer").Exists() {
			t.Error(form.Raw)
		}
		c.decide(id, reply)
		answer, failed := c.answer()
		if outputs, _ := answer["outputs"].(map[string]any); failed || fmt.Sprint(outputs["said"]) != said {
			t.Errorf("%s: %v", reply, answer)
		}
		c.leave()
	}
	p := newPlace(t)
	p.protocol("stdio")
	p.write("home/library/makes.json", creates)
	s := p.launch("pflow-serve")
	_, state := s.asked("execute", `{"name":"makes"}`)
	if r := s.stateless("execute", `{"name":"makes"}`, with(state, `"make":{"action":"accept","content":{"repo":5}}`)); r.Get("structuredContent.error.path").Str != "repo" {
		t.Error(r.Raw)
	}
	if r := s.stateless("execute", `{"name":"makes"}`, with(state, `"make":{"action":"accept","content":{"repo":"x"}}`)); r.Get("structuredContent.status").Str != "completed" {
		t.Error(r.Raw)
	}
	s.leave()
}
