package suite

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// Long output with secrets reaches the nodes that read it as it was, through templates, items, iterations, sub-workflows and
// failures. Nothing on disk has the secrets, also while the run is live.
func TestLongOutputWithSecretsIsReadWhole(t *testing.T) {
	t.Parallel()
	const secret = "shibboleth-of-this-test"
	const much = `"command":"yes $SOME_TOKEN | head -n 10000"`
	// count prints how often a text has the secret, and then how many files of the home have it.
	const count = `"command":"grep -c \"^$SOME_TOKEN\\$\"; grep -rl \"$SOME_TOKEN\" \"$PFLOW_HOME\" | wc -l"`
	for name, c := range map[string]struct{ nodes, want string }{
		"stdout": {`{"id":"a","type":"shell","params":{` + much + `}},{"id":"n","type":"shell","params":{` + count + `,"stdin":"${a.stdout}"}}]`, "10000\n0"},
		"stderr": {`{"id":"a","type":"shell","params":{"command":"yes $SOME_TOKEN | head -n 10000 >&2"}},
			{"id":"n","type":"shell","params":{` + count + `,"stdin":"${a.stderr}"}}]`, "10000\n0"},
		"late": {`{"id":"a","type":"shell","params":{"command":"seq 100000; echo $SOME_TOKEN; seq 100000"}},
			{"id":"n","type":"shell","params":{` + count + `,"stdin":"${a.stdout}"}}]`, "1\n0"},
		"JSON": {`{"id":"a","type":"code","params":{"language":"python","code":"import os\nresult: dict = {'l': [os.environ['SOME_TOKEN']] * 10000}"}},
			{"id":"n","type":"code","params":{"language":"python","inputs":{"l":"${a.result.l}"},"code":"l: list\nimport os\nresult: str = str(l.count(os.environ['SOME_TOKEN'])) + '\\n0'"}}]`, "10000\n0"},
		"items": {`{"id":"a","type":"shell","params":{` + much + `},"batch":{"items":[1,2],"parallel":true}},
			{"id":"n","type":"shell","params":{` + count + `,"stdin":"${a.results[0].stdout}\n${a.results[1].stdout}"}}]`, "20000\n0"},
		"loop": {`{"id":"a","type":"shell","params":{` + much + `},"loop":{"while":true,"max_iterations":2}},
			{"id":"n","type":"shell","params":{` + count + `,"stdin":"${a.stdout}"}}]`, "10000\n0"},
		"handled": {`{"id":"a","type":"shell","params":{"command":"yes $SOME_TOKEN | head -n 10000; exit 1"}},
			{"id":"n","type":"shell","params":{` + count + `,"stdin":"${a.stdout}"}}],"edges":[{"from":"a","to":"n","action":"error"}]`, "10000\n0"},
		"sub": {`{"id":"a","type":"workflow","params":{"workflow":"./sub.json"}},
			{"id":"n","type":"shell","params":{` + count + `,"stdin":"${a.text}"}}]`, "10000\n0"},
		"stripped": {`{"id":"a","type":"shell","params":{"command":"yes $SOME_TOKEN | head -n 10000; yes '' | head -n 100000"}},
			{"id":"n","type":"shell","params":{"command":"wc -c; echo 0","stdin":"${a.stdout}"}}]`, "239999\n0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.env = append(p.env, "SOME_TOKEN="+secret)
			p.write("sub.json", `{"nodes":[{"id":"in","type":"shell","params":{`+much+`}}],"outputs":{"text":{"source":"${in.stdout}"}}}`)
			nodes := c.nodes
			if !strings.Contains(nodes, `"edges"`) {
				nodes += `,"edges":[{"from":"a","to":"n"}]`
			}
			file := p.write("w.json", `{"nodes":`+"["+nodes+`}`)
			o := p.run("pflow-exec", "run", file, "--format", "ndjson")
			lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
			got := ""
			for _, line := range lines {
				if e := gjson.Parse(line); e.Get("event").Str == "node_completed" && e.Get("node").Str == "n" {
					got = e.Get("outputs.stdout").Str + e.Get("outputs.result").Str
				}
			}
			if o.exit != 0 || got != c.want {
				t.Errorf("%q, want %q: %.3000s", got, c.want, o.String())
			}
			hunt := p.look(secret)
			hunt.in("the output", o.stdout+o.stderr)
			hunt.inHome()
		})
	}
}
