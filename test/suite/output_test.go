package suite

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/webserver"
)

// mcpOfSize is an MCP server whose tool "give" returns a text of n bytes.
const mcpOfSize = `import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    r = {}
    if m["method"] == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "size", "version": "1"}}
    elif m["method"] == "tools/list":
        r = {"tools": [{"name": "give", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]}
    elif m["method"] == "tools/call":
        r = {"content": [{"type": "text", "text": "x" * m["params"]["arguments"]["n"]}]}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`

// outputPlace is a place with an MCP server and a node program that put out as much as they are told.
func outputPlace(t *testing.T) *place {
	t.Helper()
	needs(t, "python3")
	p := newPlace(t)
	p.must("pflow-sync", "add", "size", "--", "python3", p.write("size.py", mcpOfSize))
	p.must("pflow-sync", "sync", "size")
	program := p.write("home/nodes/pflow-node-give", `#!/bin/sh
if [ "$1" = --describe ]; then echo '{"interface":{"description":"Give a text","params":[{"name":"n","type":"int","description":"its length"}]}}'; exit; fi
n=$(sed 's/[^0-9]*1[^0-9]*\([0-9]*\).*/\1/')
printf '{"text":"'; head -c "$n" /dev/zero | tr '\0' x; echo '"}'
`)
	p.must("chmod", "+x", program)
	p.must("pflow-sync", "nodes")
	return p
}

// outputNodes are nodes of each kind that put out n bytes. N and URL are replaced.
var outputNodes = map[string]string{
	"stdout":     `"type":"shell","params":{"command":"head -c N /dev/zero | tr '\\0' x"}`,
	"stderr":     `"type":"shell","params":{"command":"head -c N /dev/zero | tr '\\0' x >&2"}`,
	"code":       `"type":"code","params":{"language":"python","code":"result: str = 'x' * N"}`,
	"code print": `"type":"code","params":{"language":"python","code":"print('x' * N)\nresult: int = 1"}`,
	"http":       `"type":"http","params":{"url":"URL/text/N"}`,
	"mcp":        `"type":"mcp-size-give","params":{"n":N}`,
	"program":    `"type":"give","params":{"n":N}`,
	"file":       `"type":"read-file","params":{"file_path":"N.txt"}`,
	"echo":       `"type":"echo","params":{"message":"${text}"}`,
}

func outputNode(name string, n int, url string) string {
	return strings.NewReplacer("N", fmt.Sprint(n), "URL", url).Replace(outputNodes[name])
}

// A node of any type that puts out more than the workflow allows fails by its limit, which a handler can take. What it put out
// before is bounded too. With a larger limit the same workflow runs to its end.
func TestMaxOutputEndsTheNodeThatExceedsIt(t *testing.T) {
	t.Parallel()
	p := outputPlace(t)
	server := webserver.Start(t)
	const much = 400_000
	p.write("400000.txt", strings.Repeat("x", much))
	for name := range outputNodes {
		t.Run(name, func(t *testing.T) {
			p := &place{T: t, dir: p.dir, home: p.home, env: p.env}
			node := outputNode(name, much, server.URL)
			file := func(runtime string) string {
				inputs := ""
				if name == "echo" {
					inputs = `"inputs":{"text":{"default":"` + strings.Repeat("x", much) + `"}},`
				}
				return p.write(strings.ReplaceAll(name, " ", "-")+".json", `{`+inputs+`"nodes":[{"id":"big",`+node+`}],"runtime":`+runtime+`}`)
			}
			o := p.run("pflow-exec", "run", file(`{"max_output":"100kB"}`), "--format", "json")
			f := gjson.Get(o.stdout, "error")
			if o.exit != 1 || f.Get("type").Str != "too_large" || f.Get("node").Str != "big" || f.Get("details.setting").Str != "runtime.max_output" || f.Get("details.limit").Int() != 100_000 ||
				!strings.Contains(f.Get("message").Str, "100 kB") {
				t.Errorf("%d %.2000s", o.exit, o.stdout)
			}
			if size := p.runSize(gjson.Get(o.stdout, "run_id").Str); size > 2*100_000+10_000 && name != "echo" { // its log and its blob; echo's text is in the workflow
				t.Errorf("the run has %d bytes", size)
			}
			p.must("pflow-exec", "run", file(`{"max_output":500000}`), "--format", "json", "--resume", gjson.Get(o.stdout, "run_id").Str)
		})
	}
}

// runSize returns the size of the files of a run.
func (p *place) runSize(id string) (size int64) {
	p.Helper()
	_ = filepath.WalkDir(filepath.Join(p.home, "runs", id), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			p.Error(err)
			return nil
		}
		if info, err := d.Info(); err == nil && d.Type().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// The limit is of all nodes of a run together, also those of sub-workflows, items, attempts and iterations, and those that a
// resumed run takes over.
func TestMaxOutputIsOfTheWholeRun(t *testing.T) {
	t.Parallel()
	const forty = `"type":"shell","params":{"command":"head -c 40000 /dev/zero | tr '\\0' x"}`
	for name, nodes := range map[string]string{
		"nodes":      `{"id":"a",` + forty + `},{"id":"b",` + forty + `},{"id":"c",` + forty + `}],"edges":[{"from":"a","to":"b"},{"from":"b","to":"c"}]`,
		"items":      `{"id":"c",` + forty + `,"batch":{"items":[1,2,3]}}]`,
		"iterations": `{"id":"c",` + forty + `,"loop":{"while":true,"max_iterations":3}}]`,
		"attempts":   `{"id":"c","type":"shell","params":{"command":"head -c 40000 /dev/zero | tr '\\0' x; exit 1"},"retry":3}]`,
		"sub":        `{"id":"a",` + forty + `},{"id":"b",` + forty + `},{"id":"c","type":"workflow","params":{"workflow":"./sub.json"}}],"edges":[{"from":"a","to":"b"},{"from":"b","to":"c"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("sub.json", `{"runtime":{"max_output":"1GB"},"nodes":[{"id":"in",`+forty+`}]}`)
			p.write("w.json", `{"runtime":{"max_output":"100kB"},"nodes":[`+nodes+`}`)
			o := p.run("pflow-exec", "run", "w.json", "--format", "json")
			for range 2 { // the resumed run too
				f := gjson.Get(o.stdout, "error")
				if o.exit != 1 || f.Get("type").Str != "too_large" || f.Get("details.limit").Int() != 100_000 || !strings.Contains(f.Raw, `"c`) {
					t.Errorf("%d %.2000s", o.exit, o.stdout)
				}
				if name == "attempts" {
					return
				}
				o = p.run("pflow-exec", "resume", "last", "--format", "json")
			}
			p.write("w.json", `{"runtime":{"max_output":"130kB"},"nodes":[`+nodes+`}`)
			p.must("pflow-exec", "run", "w.json", "--resume", "last", "--format", "json")
		})
	}
}

// A node that handles the failure may still put out a little.
func TestMaxOutputLeavesRoomForAHandler(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"runtime":{"max_output":"100kB"},"nodes":[
		{"id":"big","type":"shell","params":{"command":"yes"}},
		{"id":"handle","type":"shell","params":{"command":"echo handled"}},
		{"id":"again","type":"shell","params":{"command":"yes | head -c 20000"}}],
		"edges":[{"from":"big","to":"handle","action":"error"},{"from":"handle","to":"again"}]}`)
	o := p.run("pflow-exec", "run", "w.json", "--format", "json")
	failed := gjson.Get(o.stdout, "error")
	if o.exit != 1 || failed.Get("type").Str != "too_large" || failed.Get("node").Str != "again" {
		t.Error(o)
	}
	if out := p.must("pflow-exec", "logs", "last", "handle"); !strings.Contains(out, "handled") {
		t.Error(out)
	}
}

// The settings have the limit of workflows that have none.
func TestMaxOutputOfTheSettings(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("pflow-lib", "settings", "set", "runtime.max_output", "10kB")
	if o := p.run("pflow-lib", "settings", "set", "runtime.max_output", "much"); o.exit != 2 {
		t.Error(o)
	}
	const nodes = `"nodes":[{"id":"a","type":"shell","params":{"command":"yes | head -c 20000"}}]}`
	p.write("none.json", `{`+nodes)
	p.write("own.json", `{"runtime":{"max_output":"30 KB"},`+nodes)
	if o := p.run("pflow-exec", "run", "none.json", "--format", "json"); o.exit != 1 || gjson.Get(o.stdout, "error.details.limit").Int() != 10_000 {
		t.Error(o)
	}
	p.must("pflow-exec", "run", "own.json")
}
