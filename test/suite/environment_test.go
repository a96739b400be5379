package suite

import (
	"slices"
	"strings"
	"testing"
)

// A file of --env-file takes precedence over the environment, and KEY=VALUE and --inputs over the file.
func TestAnEnvFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.env = append(p.env, "who=environment", "OTHER=environment", "API_TOKEN=environment-token")
	p.write("w.json", `{"inputs":{"who":{"type":"string"},"n":{"type":"number","default":1},"pin":{"type":"string","secret":true,"required":false}},
		"nodes":[{"id":"a","type":"shell","params":{"command":"echo \"$API_TOKEN ${pin}\" > secrets.txt; echo \"${who} ${n} $OTHER $MORE $API_TOKEN ${pin}\""}}],"outputs":{"said":{"source":"${a.stdout}"}}}`)
	p.write("env", "# for the test\nexport who='the file'\nn=7\nMORE=\"two\\nlines\"\nAPI_TOKEN="+canary+"\npin=hunter22\n")
	for args, want := range map[string]string{
		"":                                 "environment 1 environment  <redacted> ",
		"--env-file env":                   "the file 7 environment two\nlines <redacted> <redacted>",
		"--env-file env who=given":         "given 7 environment two\nlines <redacted> <redacted>",
		"--env-file env --inputs in":       "inputs 7 environment two\nlines <redacted> <redacted>",
		"--env-file env --print said":      "the file 7 environment two\nlines <redacted> <redacted>\n",
		"--env-file env pin=other-pin n=8": "the file 8 environment two\nlines <redacted> <redacted>",
	} {
		p.write("in", `{"who":"inputs"}`)
		o := p.run("pflow-exec", append([]string{"run", "w.json"}, strings.Fields(args)...)...)
		if o.exit != 0 {
			t.Errorf("%q: %s", args, o)
			continue
		}
		got := o.stdout
		if !strings.Contains(args, "--print") {
			outputs, _ := p.last(got)["outputs"].(map[string]any)
			got, _ = outputs["said"].(string)
			p.checkNoCanary(o.stdout, o.stderr)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
	id := p.started("w.json", "--env-file", "env")
	p.must("pflow-exec", "wait", id)
	if got := p.read("secrets.txt"); got != canary+" hunter22\n" {
		t.Errorf("the node's process has %q", got)
	}
	p.checkNoCanary(p.must("pflow-exec", "events", id), p.must("pflow-exec", "show", id), p.must("pflow-exec", "logs", id))
	p.checkNoText("hunter22")
	if got := p.read("home/runs/" + id + "/logs/a.stdout"); !strings.HasPrefix(got, "the file 7 environment two\nlines <redacted>") {
		t.Errorf("a run apart said %q", got)
	}
	o := p.run("pflow-exec", "run", "w.json", "--env-file", p.write("wrong", "A=1\nhunter22\n"))
	if o.exit != 2 || strings.Contains(o.stdout+o.stderr, "hunter22") || !strings.Contains(o.stderr, "wrong:2") && !strings.Contains(o.stderr, "Line 2 of ") {
		t.Errorf("a wrong file: %s", o)
	}
	if o := p.run("pflow-exec", "run", "w.json", "--env-file", "nowhere"); o.exit != 2 {
		t.Errorf("no file: %s", o)
	}
}

// spans returns trace_id, span_id and parent_span_id of the events that have them, by event and node.
func (p *place) spans(stream string) map[string][3]string {
	p.Helper()
	spans := map[string][3]string{}
	for _, e := range p.events(stream) {
		if id, ok := e["span_id"].(string); ok {
			trace, _ := e["trace_id"].(string)
			parent, _ := e["parent_span_id"].(string)
			node, _ := e["node"].(string)
			spans[strings.TrimSpace(e["event"].(string)+" "+node)] = [3]string{trace, id, parent}
		}
	}
	return spans
}

func TestARunStandsInATrace(t *testing.T) {
	t.Parallel()
	const trace, caller = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	p := newPlace(t)
	p.env = append(p.env, "TRACESTATE=vendor=1")
	p.write("w.json", `{"nodes":[
		{"id":"a","type":"shell","params":{"command":"echo $TRACEPARENT $TRACESTATE"}},
		{"id":"each","type":"shell","batch":{"items":["x","y"]},"params":{"command":"echo $TRACEPARENT"}},
		{"id":"sub","type":"workflow","params":{"workflow":{"nodes":[{"id":"in","type":"shell","params":{"command":"echo $TRACEPARENT"}}]}}}]}`)
	for given, inTrace := range map[string]bool{
		"00-" + trace + "-" + caller + "-01": true, "": false, "00-" + trace + "-0000000000000000-01": false, "nonsense": false,
	} {
		p := &place{T: p.T, dir: p.dir, home: p.home, env: append(slices.Clone(p.env), "TRACEPARENT="+given)}
		stream := p.must("pflow-exec", "run", "w.json")
		spans := p.spans(stream)
		root := spans["run_started"]
		if (root[0] == trace) != inTrace || (root[2] == caller) != inTrace || !inTrace && root[2] != "" || len(root[0]) != 32 || len(root[1]) != 16 || root[1] == caller {
			t.Errorf("%q: the run has %q", given, root)
		}
		seen := map[string]bool{root[1]: true}
		for _, node := range []string{"a", "each", "sub", "sub/in"} {
			s := spans["node_started "+node]
			parent := "" // that is the run's
			if node == "sub/in" {
				parent = spans["node_started sub"][1]
			}
			if s[2] != parent || seen[s[1]] || len(s[1]) != 16 {
				t.Errorf("%q: node %s has %q, the run %q", given, node, s, root)
			}
			seen[s[1]] = true
		}
		flags := map[bool]string{true: "01 vendor=1", false: "01"}[inTrace] // what others say of a trace goes with that trace alone
		said := p.must("pflow-exec", "logs", "last", "a", "--format", "text")
		if want := "00-" + root[0] + "-" + spans["node_started a"][1] + "-" + flags + "\n"; said != want {
			t.Errorf("%q: the node's process has %q, want %q", given, said, want)
		}
		said = p.must("pflow-exec", "logs", "last", "sub/in", "--format", "text")
		if !strings.Contains(said, "-"+spans["node_started sub/in"][1]+"-") {
			t.Errorf("%q: the inner node's process has %q, want %q", given, said, spans["node_started sub/in"])
		}
		items := strings.Fields(p.must("pflow-exec", "logs", "last", "each", "--format", "text"))
		if len(items) != 2 || items[0] == items[1] {
			t.Errorf("%q: the items have %q", given, items)
		}
		recorded := map[string]bool{} // the spans of the items
		for _, e := range p.events(stream) {
			if id, ok := e["span_id"].(string); ok && e["event"] == "item_completed" {
				recorded[id] = true
			}
		}
		for _, item := range items {
			if !recorded[item[36:52]] {
				t.Errorf("%q: an item's process has %q, the events %v", given, item, recorded)
			}
			if !strings.HasPrefix(item, "00-"+root[0]+"-") || seen[item[36:52]] {
				t.Errorf("%q: an item has %q", given, item)
			}
		}
		if show := p.document(p.must("pflow-exec", "show", "last")); show["trace_id"] != root[0] {
			t.Errorf("show tells of %v", show["trace_id"])
		}
	}
}

// A run that goes on from another names the span of that run.
func TestAResumedRunNamesTheSpanBefore(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"test -e mended"}}]}`)
	o := p.run("pflow-exec", "run", "w.json")
	before := p.events(o.stdout)[0]
	p.write("mended", "")
	after := p.events(p.must("pflow-exec", "run", "w.json", "--resume", "last"))[0]
	if after["resumed_trace_id"] != before["trace_id"] || after["resumed_span_id"] != before["span_id"] || before["resumed_span_id"] != nil || before["span_id"] == nil {
		t.Errorf("%v goes on from %v", after, before)
	}
}
