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
	missing("run", "changed.json", "--resume", "last", "--approve", "no")
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
