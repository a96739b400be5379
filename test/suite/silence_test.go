package suite

import (
	"fmt"
	"testing"
)

// A silent run under a client that gives up soon, scaled: calls that hand over, a call that is given up, a server that is killed and
// one that takes its place. There is one run, and its node runs once.
func TestASilentRunIsHandedOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("home/library/silent.json", `{"executionType":"sync","nodes":[{"id":"think","type":"shell","params":{"command":"echo began >> began; cat `+g.path+`"}}]}`)
	c := p.connect("pflow-serve", "--toolsets", "core,workflows")
	answer, failed := c.call("execute", `{"name":"silent","wait_seconds":0.05}`)
	run, _ := answer["run_id"].(string)
	if failed || answer["status"] != "running" || run == "" {
		t.Fatal(answer)
	}
	open := g.reached()
	for i := range 40 {
		if i == 20 { // a server is killed, and another one goes on
			if err := c.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = c.cmd.Wait()
			c = p.connect("pflow-serve", "--toolsets", "core,workflows")
		}
		answer, failed := c.call([]string{"execute", "run_wait"}[i%2], []string{`{"name":"silent","resume":"` + run + `","wait_seconds":0.05}`, `{"run_id":"` + run + `","wait_seconds":0.05}`}[i%2])
		if failed || answer["status"] != "running" || answer["run_id"] != run {
			t.Fatal(answer)
		}
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1000,"method":"tools/call","params":{"name":"execute","arguments":{"name":"silent","resume":%q,"wait_seconds":3600}}}`, run))
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1000,"reason":"McpError: MCP error -32001: Request timed out"}}`)
	if answer, failed := c.call("run_status", `{"run_id":"`+run+`"}`); failed || answer["status"] != "running" {
		t.Error(answer)
	}
	open()
	if answer, failed := c.call("run_wait", `{"run_id":"`+run+`"}`); failed || answer["status"] != "completed" || answer["run_id"] != run {
		t.Error(answer)
	}
	if p.runs() != 1 || p.read("began") != "began\n" {
		t.Errorf("%d runs, began %q", p.runs(), p.read("began"))
	}
	c.leave()
}
