package suite

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestOneNodeOfAType: pflow-exec node runs one node as a run of its own.
func TestOneNodeOfAType(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("in.txt", "from a file")
	for _, c := range []struct {
		stdin string
		args  []string
		path  string
		want  string
	}{
		{"", []string{"echo", "message=hi", "count=2"}, "echo", `"hi hi"`},
		{"", []string{"echo", "data:={\"a\":[1.50]}"}, "data.a.0", "1.50"},
		{"", []string{"echo", "message=@in.txt"}, "echo", `"from a file"`},
		{"piped", []string{"echo", "message=@-"}, "echo", `"piped"`},
		{`{"message":"all","uppercase":true}`, []string{"echo", "-"}, "echo", `"ALL"`},
		{"", []string{"shell", "command=pwd", "-C", p.home}, "stdout", `"` + p.home + `"`},
		{"", []string{"shell", "command=echo $$${x}"}, "stdout", ""}, // $${x} is the shell's ${x}
		{"", []string{"workflow", `workflow:={"inputs":{"v":{}},"nodes":[{"id":"n","type":"echo","params":{"data":"${v}"}}],"outputs":{"o":{"source":"${n.data}"}}}`, `inputs:={"v":7}`}, "o", "7"},
	} {
		o := p.fed(c.stdin, "pflow-exec", append([]string{"node"}, c.args...)...)
		if got := gjson.Get(o.stdout, c.path).Raw; o.exit != 0 || c.want != "" && got != c.want || strings.Count(o.stdout, "\n") != 1 {
			t.Errorf("%q: %s", c.args, o)
		}
	}
	if got := p.must("pflow-exec", "node", "echo", `data:={"list":[{"k":"v"}]}`, "--print", "data.list[0].k"); got != "v\n" {
		t.Errorf("%q", got)
	}
	text := p.must("pflow-exec", "node", "echo", `data:={"list":[{"k":"v"},2]}`, "--format", "text", "--quiet")
	for _, line := range []string{"${node.data.list}", "array of 2", "${node.data.list[0].k}", `"v"`} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in %s", line, text)
		}
	}
	stream := p.must("pflow-exec", "node", "echo", "--format", "ndjson")
	if first := p.events(stream)[0]; first["event"] != "run_started" || p.last(stream)["status"] != "completed" {
		t.Errorf("%s", stream)
	}

	for _, c := range []struct {
		args []string
		exit int
		kind string
		fact string
	}{
		{[]string{"eco"}, 2, "validation_error", `"echo"`},
		{[]string{"echo", "mesage=x"}, 2, "validation_error", `"message"`},
		{[]string{"echo", "count=many"}, 2, "validation_error", "count"},
		{[]string{"echo", "message=${other.key}"}, 2, "template_error", "other"},
		{[]string{"echo", "-", "message=x"}, 2, "usage_error", ""},
		{[]string{"echo", "message"}, 2, "usage_error", "message"},
		{[]string{"shell", "command=exit 3"}, 1, "execution_error", "3"},
		{[]string{"shell", "command=sleep 9", "--timeout", "100ms"}, 124, "timeout", ""},
		{[]string{"jq", "filter=.[", "input:=[]"}, 1, "execution_error", "params.filter"},
	} {
		o := p.run("pflow-exec", append([]string{"node"}, c.args...)...)
		e := gjson.Get(o.stdout, "error")
		if o.exit != c.exit || e.Get("type").Str != c.kind || !strings.Contains(e.Raw, c.fact) || e.Get("file").Exists() || e.Get("line").Exists() || strings.Contains(o.stderr, "node.json") {
			t.Errorf("%q: %s", c.args, o)
		}
	}

	// A secret of the command line is not kept, and the run is one like any other.
	p.must("pflow-exec", "node", "shell", "command=echo $TOKEN | tr a-z A-Z", `env:={"TOKEN":"canary-token-4711"}`)
	if o := p.run("grep", "-r", "canary-token-4711", p.home); o.exit != 1 {
		t.Errorf("the secret is in the home: %s", o)
	}
	if got := p.must("pflow-exec", "show", "last", "--field", "node.exit_code"); got != `{"node.exit_code":0}`+"\n" {
		t.Errorf("%q", got)
	}
	if d := p.document(p.must("pflow-exec", "status", "last")); d["workflow"] != "node shell" || d["status"] != "completed" {
		t.Errorf("%v", d)
	}
}
