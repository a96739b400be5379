package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// spender is the program of a node type that uses tokens and dollars. It records each call in the file calls. With "report" it says
// what it has used while it runs, and then runs on.
const spender = `#!/bin/sh
if [ "$1" = --describe ]; then
	echo '{"interface":{"description":"Use a model","params":[
		{"name":"tokens","type":"int","default":10},{"name":"usd","type":"str","default":"0.5"},{"name":"report","type":"bool","default":false},{"name":"fail","type":"bool","default":false}],
		"outputs":[{"name":"done","type":"bool"}]}}'
	exit
fi
request=$(cat)
tokens=$(echo "$request" | sed 's/.*"tokens":\([0-9]*\).*/\1/')
usd=$(echo "$request" | sed 's/.*"usd":"\([^"]*\)".*/\1/')
echo "$PFLOW_NODE_ID" >>calls
usage='{"model":"m","input_tokens":'$tokens',"output_tokens":0,"total_tokens":'$tokens',"cost_usd":'$usd'}'
case $request in *'"report":true'*) echo '{"progress":{"done":1,"message":"works","llm_usage":'$usage'}}'; sleep 100 ;; esac
case $request in *'"fail":true'*) echo '{"error":"no","llm_usage":'$usage'}'; exit 1 ;; esac
echo '{"done":true,"llm_usage":'$usage'}'
`

// newSpender returns a place in which the program is the node type spend.
func newSpender(t *testing.T) *place {
	t.Helper()
	t.Parallel()
	p := newPlace(t)
	if err := os.Chmod(p.write("home/nodes/pflow-node-spend", spender), 0o700); err != nil {
		t.Fatal(err)
	}
	p.must("pflow-sync", "nodes")
	return p
}

// spending returns nodes that run one after the other, with the parameters of each.
func spending(params ...string) string {
	var nodes, edges []string
	for i, text := range params {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"spend","params":{%s}}`, i, text))
		if i > 0 {
			edges = append(edges, fmt.Sprintf(`{"from":"n%d","to":"n%d"}`, i-1, i))
		}
	}
	return `"nodes":[` + strings.Join(nodes, ",") + `],"edges":[` + strings.Join(edges, ",") + `]`
}

func (p *place) calls() int {
	p.Helper()
	return strings.Count(p.read("calls"), "\n")
}

func TestABudgetStopsARun(t *testing.T) {
	p := newSpender(t)
	p.write("w.json", `{"budget":{"usd":1},`+spending("", "", "", "")+`}`)
	o := p.run("pflow-exec", "run", "w.json", "--format", "json")
	d := gjson.Parse(o.stdout)
	if o.exit != 1 || d.Get("status").Str != "failed" || d.Get("error.type").Str != "budget_exceeded" || d.Get("error.path").Str != "budget.usd" || d.Get("error.details.spent.usd").Num != 1 {
		t.Fatal(o)
	}
	if got := d.Get("checkpoint.completed_nodes").Raw; got != `["n0","n1"]` || p.calls() != 2 {
		t.Errorf("completed %s with %d calls", got, p.calls())
	}
	run := d.Get("run_id").Str
	for _, command := range []string{"status", "show"} {
		if got := gjson.Parse(p.must("pflow-exec", command, run)); got.Get("budget.usd").Num != 1 || got.Get("spent.usd").Num != 1 || got.Get("spent.tokens").Num != 20 {
			t.Errorf("%s: %s", command, got.Raw)
		}
	}
	if text := p.must("pflow-exec", "status", run, "--format", "text"); !strings.Contains(text, "$1 of $1") {
		t.Errorf("as text: %s", text)
	}
	if page := p.must("pflow-exec", "report", run); !strings.Contains(page, "$1 of $1") {
		t.Error("the report does not have the budget")
	}

	// Under the same budget, which earlier runs have used up, nothing more runs.
	if o := p.run("pflow-exec", "resume", run, "--format", "json"); gjson.Get(o.stdout, "error.type").Str != "budget_exceeded" || p.calls() != 2 {
		t.Errorf("%d calls: %s", p.calls(), o)
	}
	// Under a larger one it goes on, and what is reused costs nothing again.
	o = p.run("pflow-exec", "resume", run, "--budget-usd", "1.5", "--format", "json")
	if d := gjson.Parse(o.stdout); d.Get("error.type").Str != "budget_exceeded" || d.Get("error.details.spent.usd").Num != 1.5 || p.calls() != 3 {
		t.Errorf("%d calls: %s", p.calls(), o)
	}
	// A budget that was given stays with the resumed run.
	if o := p.run("pflow-exec", "resume", run, "--format", "json"); gjson.Get(o.stdout, "error.details.budget.usd").Num != 1.5 || p.calls() != 3 {
		t.Errorf("%d calls: %s", p.calls(), o)
	}
	p.write("w.json", `{"budget":{"usd":1},`+spending("", "", "", "")+`}`)
	if got := gjson.Parse(p.must("pflow-exec", "resume", run, "--budget-usd", "9", "--format", "json")); got.Get("status").Str != "completed" || p.calls() != 4 {
		t.Errorf("%d calls: %s", p.calls(), got.Raw)
	}
}

func TestABudgetHoldsInside(t *testing.T) {
	p := newSpender(t)
	p.write("sub.json", `{`+spending("", "")+`}`)
	for name, c := range map[string]struct {
		workflow, flag, field string
		calls                 int
	}{
		"a batch":        {`{"nodes":[{"id":"a","type":"spend","batch":{"items":[1,2,3,4]}}]}`, "--budget-tokens=20", "tokens", 2},
		"a loop":         {`{"nodes":[{"id":"a","type":"spend","loop":{"while":"${a.done}","max_iterations":5}}]}`, "--budget-tokens=25", "tokens", 3},
		"sub-workflows":  {`{"nodes":[{"id":"a","type":"workflow","params":{"workflow":"sub.json"},"batch":{"items":[1,2,3]}}]}`, "--budget-usd=1.5", "usd", 3},
		"retries":        {`{"nodes":[{"id":"a","type":"spend","params":{"fail":true},"retry":{"max":9,"wait":"1ms"}}]}`, "--budget-usd=1", "usd", 2},
		"a node":         {`{"nodes":[{"id":"a","type":"spend","params":{"report":true}}]}`, "--budget-tokens=5", "tokens", 1},
		"other nodes":    {`{"nodes":[{"id":"a","type":"spend"},{"id":"b","type":"shell","params":{"command":"echo b >> calls"}}],"edges":[{"from":"a","to":"b"}]}`, "--budget-tokens=10", "tokens", 1},
		"parallel nodes": {`{"nodes":[{"id":"a","type":"spend","params":{"report":true}},{"id":"b","type":"spend","params":{"report":true}}],"edges":[]}`, "--budget-tokens=11", "tokens", 2},
		"the time":       {`{"nodes":[{"id":"a","type":"shell","params":{"command":"echo a >> calls; sleep 100"}}]}`, "--budget-minutes=0.08", "minutes", 1},
	} {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(filepath.Join(p.dir, "calls"))
			p := &place{T: t, dir: p.dir, home: p.home, env: p.env}
			p.write("w.json", c.workflow)
			o := p.run("pflow-exec", "run", "w.json", "--jobs", "2", "--format", "json", c.flag)
			if d := gjson.Parse(o.stdout); o.exit != 1 || d.Get("error.type").Str != "budget_exceeded" || d.Get("error.path").Str != "budget."+c.field {
				t.Errorf("%s", o)
			}
			if p.calls() != c.calls {
				t.Errorf("%d calls, want %d", p.calls(), c.calls)
			}
		})
	}
	// What a stopped node had reported is counted.
	p.write("w.json", `{"nodes":[{"id":"a","type":"spend","params":{"report":true}}]}`)
	_ = p.run("pflow-exec", "run", "w.json", "--budget-tokens=5")
	if last := gjson.Parse(p.must("pflow-exec", "show", "last")); last.Get("usage.total_tokens").Num != 10 || last.Get("spent.tokens").Num != 10 {
		t.Error(last.Raw)
	}
}

// A run whose runner was killed has spent what its journal says.
func TestAKilledRunHasSpent(t *testing.T) {
	p := newSpender(t)
	g := p.gate("gate")
	p.write("w.json", `{"nodes":[{"id":"a","type":"spend"},{"id":"b","type":"shell","params":{"command":"read x < gate"}},{"id":"c","type":"spend"},{"id":"d","type":"echo"}],
		"edges":[{"from":"a","to":"b"},{"from":"b","to":"c"},{"from":"c","to":"d"}]}`)
	run := p.started("w.json", "--budget-tokens", "15")
	_ = g.reached()
	if d := gjson.Parse(p.must("pflow-exec", "status", run)); d.Get("spent.tokens").Num != 10 {
		t.Errorf("while it runs: %s", d.Raw)
	}
	p.kill(run)
	p.must("pflow-exec", "cancel", run) // ends what the runner has left
	g.left()
	resumed := p.started("w.json", "--resume", run)
	g.reached()()
	p.waitsFor(resumed, "failed")
	d := gjson.Parse(p.must("pflow-exec", "show", resumed))
	if d.Get("error.type").Str != "budget_exceeded" || d.Get("spent.tokens").Num != 20 {
		t.Errorf("%s", d.Raw)
	}
}

func TestABudgetIsChecked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const nodes = `"nodes":[{"id":"a","type":"echo"}]`
	for text, path := range map[string]string{
		`{"usd":0}`: "budget.usd", `{"tokens":1.5}`: "budget.tokens", `{"minutes":"5"}`: "budget.minutes", `{"euros":1}`: "budget.euros", `5`: "budget", `{"tokens":-1}`: "budget.tokens",
	} {
		p.write("w.json", `{"budget":`+text+`,`+nodes+`}`)
		if o := p.run("pflow-lib", "check", "w.json"); o.exit != 2 || gjson.Get(o.stdout, "error.path").Str != path && gjson.Get(o.stdout, "error.errors.0.path").Str != path {
			t.Errorf("%s: %s", text, o)
		}
	}
	p.write("w.pflow.md", "---\nbudget: {usd: 2.5, tokens: 1000, minutes: 0.5}\n---\n\n# W\n\nEcho.\n\n## Steps\n\n### a\n\nSay it.\n\n- type: echo\n")
	if d := gjson.Parse(p.must("pflow-exec", "run", "w.pflow.md", "--format", "ndjson")); d.Get("budget").Raw != `{"usd":2.5,"tokens":1000,"minutes":0.5}` {
		t.Errorf("%s", d.Get("budget").Raw)
	}
	for _, flag := range []string{"--budget-usd=0", "--budget-tokens=-1", "--budget-minutes=NaN", "--budget-usd=Inf"} {
		if o := p.run("pflow-exec", "run", "w.pflow.md", flag); o.exit != 2 {
			t.Errorf("%s: %s", flag, o)
		}
	}
}
