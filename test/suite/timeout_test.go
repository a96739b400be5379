package suite

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// In the Markdown form the timeout of a step is a parameter like any other, also of types that do not declare it.
func TestTimeoutsOfTheMarkdownForm(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]string{
		"a shell node":    "- type: shell\n- timeout: 100ms\n- command: sleep 100\n",
		"a number":        "- type: shell\n- timeout: 0.1\n- command: sleep 100\n",
		"of the node":     "- type: shell\n- timeout: {node: 100ms}\n- command: sleep 100\n",
		"a sub-workflow":  "- type: workflow\n- timeout: 100ms\n- workflow: {nodes: [{id: in, type: shell, params: {command: sleep 100}}]}\n",
		"an endless file": "- type: read-file\n- timeout: 100ms\n- file_path: fifo\n- allow_special: true\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("w.pflow.md", "# W\n\n## Steps\n\n### fifo\n\nMake one.\n\n- type: shell\n- command: mkfifo fifo\n\n### slow\n\nWaits.\n\n"+step)
			o := p.run("pflow-exec", "run", "w.pflow.md")
			lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
			last := gjson.Parse(lines[len(lines)-1])
			if o.exit != 1 || last.Get("error.type").Str != "timeout" || last.Get("error.node").Str != "slow" || !strings.Contains(last.Get("error.message").Str, "0.1 seconds") {
				t.Errorf("%s", o)
			}
		})
	}
}

func TestStatusShowsHowLongNodesRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes":[{"id":"done","type":"echo"},{"id":"slow","type":"shell","params":{"command":"sleep 100"}}],"edges":[{"from":"done","to":"slow"}]}`)
	id := gjson.Get(p.must("pflow-exec", "start", "w.json"), "run_id").Str
	var status gjson.Result
	p.eventually("slow runs", func() bool {
		status = gjson.Parse(p.must("pflow-exec", "status", id))
		return status.Get("running.0").Str == "slow"
	})
	if nodes := status.Get("running_nodes"); nodes.Get("#").Int() != 1 || nodes.Get("0.node").Str != "slow" || nodes.Get("0.duration_ms").Num <= 0 {
		t.Errorf("%s", status)
	}
	if text := p.must("pflow-exec", "status", id, "--format", "text"); !strings.Contains(text, "\nslow has been running for ") {
		t.Errorf("%s", text)
	}
	p.must("pflow-exec", "cancel", id)
}
