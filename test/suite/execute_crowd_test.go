package suite

import (
	"fmt"
	"testing"

	"github.com/tidwall/gjson"
)

// Fifty executes at the same time each answer with their own outputs, and leave nothing behind.
func TestFiftyExecutesAtATime(t *testing.T) {
	t.Parallel()
	const all = 50
	p := newPlace(t)
	p.draft("own", `{"inputs":{"n":{"type":"int"}},"nodes":[{"id":"a","type":"shell","params":{"command":"echo ${n} >> ran.txt; sleep 0.2; echo ${n}"}}],"outputs":{"n":{"source":"${a.stdout}"}}}`)
	c := p.connect("pflow-serve")
	asked := map[int]string{}
	for i := range all {
		asked[c.request("execute", fmt.Sprintf(`{"name":"own","inputs":{"n":%d},"wait_seconds":300}`, i))] = fmt.Sprint(i)
	}
	runs := map[string]bool{}
	for range all {
		line, err := c.stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		message := gjson.Parse(line)
		answer := message.Get("result.structuredContent")
		if n := asked[int(message.Get("id").Int())]; answer.Get("status").Str != "completed" || answer.Get("outputs.n").String() != n {
			t.Errorf("the call of %s answers %s", n, message)
		}
		runs[answer.Get("run_id").Str] = true
	}
	if len(runs) != all || len(p.journals()) != all {
		t.Errorf("%d runs, %d journals", len(runs), len(p.journals()))
	}
	p.eventually("only the server is left", func() bool {
		left := processes("PFLOW_HOME=" + p.home)
		return len(left) == 0 || len(left) == 1 && left[c.cmd.Process.Pid] != ""
	})
	c.leave()
}
