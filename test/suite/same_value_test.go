package suite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// oddValues are JSON values that have every kind, every byte of ASCII, and spellings that an encoder might change.
func oddValues() (values []string) {
	var ascii []byte
	for c := byte(1); c < 0x80; c++ {
		ascii = append(ascii, c)
	}
	text := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(ascii[0x1f:])) + `"`
	for c := range byte(0x1f) {
		text = fmt.Sprintf(`%s\u%04x"`, strings.TrimSuffix(text, `"`), c+1)
	}
	return []string{
		text, `{"a":` + text + `,"<&>":"<&>"}`, `[` + text + `,[]]`,
		`"\u2028 é € 𝄞 \ud834\udd1e \u00e9 \/"`, `{"a":"\u2028 é \u00e9 \/ 𝄞","é":1,"\u00e8":2}`,
		`""`, `" "`, `"\n"`, `"0"`, `"null"`, `"${x}"`, `"$(id) ${HOME} \u0060id\u0060"`, `"{\"a\":\"&\"}"`,
		`[null]`, `true`, `false`, `0`, `-0`, `1.0`, `1e2`, `1E+2`, `0.1`, `12345678901234567890123`, `1.7976931348623157e308`, `-1.50`,
		`{}`, `[]`, `{"z":1,"a":{"y":[1.0,1e2,12345678901234567890,null]}}`, `[1,"1",[1.0]]`,
		`{"a": 1, "b" : [ 1, 2 ] }`, `{"$a":1,"$base64":"eA==","$$":{"\u0024b":1}}`, `{"a":"\ud800"}`, `"\udc00 x"`,
	}
}

// TestAValueIsTheSameByEveryDoor holds that a node gets the same bytes of an input, however the run began: by run, start, a resume, a
// runner, a call over stdio and HTTP, and the form of a page, which sends such a call.
func TestAValueIsTheSameByEveryDoor(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	values := oddValues()
	var declared, given, shell, echoed []string
	for i, v := range values {
		name := fmt.Sprintf("v%d", i)
		declared = append(declared, `"`+name+`":{"type":"any"}`)
		given = append(given, `"`+name+`":`+v)
		shell = append(shell, `\"${`+name+`}\"`)
		echoed = append(echoed, `"`+name+`":"${`+name+`}"`)
	}
	inputs := "{" + strings.Join(given, ",") + "}"
	workflow := func(place string) string {
		return `{"inputs":{` + strings.Join(declared, ",") + `},"nodes":[{"id":"gate","type":"shell","params":{"command":"test -e open"}},
			{"id":"a","type":"shell"` + place + `,"params":{"command":"printf '<%s>\\n' ` + strings.Join(shell, " ") + `"}},
			{"id":"e","type":"echo"` + place + `,"params":{"data":{` + strings.Join(echoed, ",") + `}}}],"edges":[{"from":"gate","to":"a"},{"from":"gate","to":"e"}]}`
	}
	p.write("inputs.json", inputs)
	p.write("far.json", workflow(`,"runs_on":"far"`))
	p.draft("odd", workflow(""))
	asArguments := func() (args []string) {
		for i, v := range values {
			args = append(args, fmt.Sprintf("v%d:=%s", i, v))
		}
		return args
	}
	events := func(run string) string { return p.must("pflow-exec", "events", run, "--inline") }
	seen := func(events string) string {
		got := gjson.Get(events, `..#(event=="run_started").inputs`).Raw
		for _, node := range []string{"a", "e"} {
			outputs := gjson.Get(events, `..#(event=="node_completed")#|#(node=="`+node+`").outputs`)
			if got += "\n" + outputs.Get("stdout").Raw + outputs.Get("data").Raw; !outputs.Exists() {
				t.Fatalf("node %s has no outputs: %s", node, events)
			}
		}
		return got
	}
	var stopped [2]string
	for i := range stopped {
		o := p.run("pflow-exec", "run", "odd", "--inputs", "inputs.json")
		if stopped[i] = gjson.Get(o.stdout, "..0.run").Str; o.exit != 1 {
			t.Fatalf("the gate is open: %s", o)
		}
	}
	p.write("open", "")
	want := seen(p.must("pflow-exec", "run", "odd", "--inputs", "inputs.json"))
	_, outputs, _ := strings.Cut(want, "\n")
	if printed := gjson.Parse(outputs).Str; !strings.Contains(printed, "<"+values[1]+">\n") {
		t.Errorf("%s is not printed as it was given: %s", values[1], printed)
	}
	d, c := p.open("--toolsets", "core,runs"), p.connect("pflow-serve")
	over := func(arguments string) (run string) {
		_, body := d.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute","arguments":{"name":"odd",`+arguments+`}}}`, "Mcp-Protocol-Version", "2025-11-25")
		run = gjson.Get(body[strings.IndexByte(body, '{'):], "result.structuredContent.run_id").Str
		if run == "" {
			t.Errorf("no run: %s", body)
		}
		p.must("pflow-exec", "wait", run)
		return run
	}
	doors := map[string]func() string{
		"arguments": func() string { return p.must("pflow-exec", append([]string{"run", "odd"}, asArguments()...)...) },
		"resume":    func() string { return p.must("pflow-exec", "resume", stopped[0]) },
		"run again": func() string { return p.must("pflow-exec", "run", "odd", "--resume", stopped[1]) },
		"a runner": func() string {
			return p.must("pflow-exec", "run", "far.json", "--inputs", "inputs.json", "--runs-on", "far="+filepath.Join(bin, "pflow-exec")+" node")
		},
		"start": func() string {
			run := gjson.Get(p.must("pflow-exec", "start", "odd", "--inputs", "inputs.json"), "run_id").Str
			p.must("pflow-exec", "wait", run)
			return events(run)
		},
		"execute": func() string {
			answer, failed := c.call("execute", `{"name":"odd","inputs":`+inputs+`}`)
			if failed {
				t.Errorf("execute fails: %v", answer)
			}
			return events(answer["run_id"].(string))
		},
		"HTTP":     func() string { return events(over(`"inputs":` + inputs)) },
		"the form": func() string { return events(over(`"wait_seconds":0,"inputs":` + inputs)) },
	}
	for name, door := range doors {
		if got := seen(door()); got != want {
			t.Errorf("by %s a node gets other bytes than by run: %s", name, cmp.Diff(strings.Split(want, "\\n"), strings.Split(got, "\\n")))
		}
	}
}
