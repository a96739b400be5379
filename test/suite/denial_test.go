package suite

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// A denial ends a run before a node could read its secrets, so they need not be given again for it.
func TestADenialNeedsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-of-the-deployment"
	p := newPlace(t)
	workflow := `{"inputs":{"api_key":{"type":"string","secret":true}},"nodes":[
		{"id":"uses","type":"shell","params":{"command":"echo ran >> used; printf '%s' ${api_key} | wc -c"}},
		{"id":"asks","type":"shell","approval":{"question":"Deploy ${uses.stdout} bytes?"},"params":{"command":"printf '%s' ${api_key} > deployed"}},
		{"id":"after","type":"shell","params":{"command":"echo ${asks.exit_code} ${api_key}"}}],
		"edges":[{"from":"uses","to":"asks"},{"from":"asks","to":"after"}]}`
	p.write("w.json", workflow)
	if o := p.run("pflow-exec", "run", "w.json", "api_key="+secret, "--format", "json"); o.exit != 4 {
		t.Fatalf("%s", o)
	}
	missing := func(args ...string) {
		t.Helper()
		if d := gjson.Parse(p.run("pflow-exec", append(args, "--format", "json")...).stdout); d.Get("error.type").Str != "usage_error" || d.Get("error.missing.0").Str != "api_key" {
			t.Errorf("%q: %s", args, d.Raw)
		}
	}
	missing("resume", "last", "--approve", "yes")
	missing("resume", "last")
	p.write("changed.json", strings.Replace(workflow, "| wc -c", "| wc -c -", 1)) // its first node must run again
	missing("run", "changed.json", "--resume", p.onlyRun(), "--approve", "no")
	for range 2 { // the denied run asks again
		if d := gjson.Parse(p.run("pflow-exec", "resume", "last", "--approve", "no", "--format", "json").stdout); d.Get("status").Str != "denied" || d.Get("error.node").Str != "asks" {
			t.Errorf("%s", d.Raw)
		}
	}
	missing("resume", "last", "--approve", "yes")
	if p.exists("deployed") || strings.Count(p.read("used"), "ran") != 1 {
		t.Errorf("a node has run: %q", p.read("used"))
	}
	d := gjson.Parse(p.must("pflow-exec", "resume", "last", "--approve", "yes", "api_key="+secret, "--format", "json"))
	if d.Get("status").Str != "completed" || p.read("deployed") != secret || strings.Count(p.read("used"), "ran") != 1 {
		t.Errorf("%q, %q: %s", p.read("deployed"), p.read("used"), d.Raw)
	}
}

// A denial inside other nodes needs no secrets either: of a sub-workflow, in another one, of an iteration and of an item of a batch. It does if
// a node would start before it.
func TestADenialInsideNodesNeedsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-of-the-deployment"
	const inner = `{"inputs":{"api_key":{"type":"string","secret":true}},"nodes":[
		{"id":"uses","type":"shell","params":{"command":"echo ran >> used; printf '%s' ${api_key} | wc -c"}},
		{"id":"asks","type":"shell","approval":{"question":"Deploy ${uses.stdout} bytes?"},"params":{"command":"printf '%s' ${api_key} >> deployed"}}],
		"edges":[{"from":"uses","to":"asks"}]}`
	inputs := `"params":{"workflow_name":"inner","inputs":{"api_key":"${api_key}"}}`
	for name, c := range map[string]struct{ node, path string }{
		"a sub-workflow": {`{"id":"sub","type":"workflow",` + inputs + `}`, "sub/asks"},
		"two levels":     {`{"id":"sub","type":"workflow",` + strings.Replace(inputs, "inner", "outer", 1) + `}`, "sub/sub/asks"},
		"an item":        {`{"id":"sub","type":"workflow","batch":{"items":[1]},` + inputs + `}`, "sub[0]/asks"},
		"an iteration":   {`{"id":"sub","type":"workflow","loop":{"while":true,"max_iterations":2},` + inputs + `}`, "sub/asks"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.draft("inner", inner)
			p.draft("outer", `{"inputs":{"api_key":{"type":"string","secret":true}},"nodes":[{"id":"sub","type":"workflow",`+inputs+`}]}`)
			p.draft("w", `{"inputs":{"api_key":{"type":"string","secret":true}},"nodes":[`+c.node+`]}`)
			answer := func(values ...string) gjson.Result {
				return gjson.Parse(p.run("pflow-exec", append([]string{"run", "w", "--resume", "last", "--format", "json", "--approve"}, values...)...).stdout)
			}
			if d := gjson.Parse(p.run("pflow-exec", "run", "w", "api_key="+secret, "--format", "json").stdout); d.Get("status").Str != "paused" {
				t.Fatalf("%s", d.Raw)
			}
			for range 2 { // the denied run asks again
				if d := answer("no"); d.Get("status").Str != "denied" || d.Get("error.node").Str != c.path {
					t.Errorf("%s", d.Raw)
				}
			}
			if d := answer("yes"); d.Get("error.missing.0").Str != "api_key" {
				t.Errorf("%s", d.Raw)
			}
			p.draft("inner", strings.Replace(inner, "| wc -c", "| wc -c -", 1)) // its first node must run again
			if d := answer("no"); d.Get("error.missing.0").Str != "api_key" {
				t.Errorf("%s", d.Raw)
			}
			p.draft("inner", inner)
			if p.exists("deployed") || strings.Count(p.read("used"), "ran") != 1 {
				t.Errorf("a node has run: %q", p.read("used"))
			}
			if answer("yes", "api_key="+secret); !strings.HasPrefix(p.read("deployed"), secret) {
				t.Errorf("%q", p.read("deployed"))
			}
		})
	}
}
