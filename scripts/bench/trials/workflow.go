package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

type object = map[string]any

// workflow is the workflow of a trial, and its expected results.
type workflow struct {
	inputs, outputs object
	nodes, edges    []object
	// marks has how many marks each node, item and iteration leaves, want the outputs as JSON, status the final status.
	marks          map[string]int
	want           map[string]string
	status, runsOn string
}

const (
	// mark is a shell command that writes a mark, in one short write: the run, what runs, the attempt, and the key.
	mark = `echo "$PFLOW_RUN_ID $PFLOW_NODE_ID${PFLOW_ITEM:+[$PFLOW_ITEM]}${PFLOW_ITERATION:+#$PFLOW_ITERATION} $PFLOW_ATTEMPT $PFLOW_NODE_KEY" >> "$MARKS"; `

	// stray is a shell command that leaves a process in a session of its own. It reads a named pipe that nothing writes to, and is found by its
	// last argument, which names the trial and the run, whatever its environment says.
	stray = `$SETSID sh -c 'read x <> "$NEVER"' "$STRAY$PFLOW_RUN_ID" >/dev/null 2>&1 & `

	// agent stands in for claude: it leaves a mark and a process, says which key it has, and reports a result in the format stream-json.
	agent = "#!/bin/sh\ncat >/dev/null\n" + stray + mark + `
echo "the key is $ANTHROPIC_API_KEY" >&2
echo '{"type":"system","subtype":"init","session_id":"9b1c","model":"stand-in"}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"9b1c","result":"done '"$ANTHROPIC_API_KEY"'","total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":1}}'
`

	// server is an MCP server with a tool that leaves a mark. It has no key of its own: the server is shared by the nodes of a run.
	server = "#!/bin/sh\n" + stray + `
while IFS= read -r line; do
	field() { printf %s "$line" | sed -n 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p'; }
	case "$line" in
	*'"initialize"'*) r='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"trial","version":"1"}}' ;;
	*'"tools/list"'*) r='{"tools":[{"name":"mark","inputSchema":{"type":"object"}}]}' ;;
	*'"tools/call"'*) item=$(field item); echo "$PFLOW_RUN_ID $(field node)${item:+[$item]} 1 no-key-of-$(field node)$item" >> "$MARKS"; r='{"content":[{"type":"text","text":"marked"}]}' ;;
	*) continue ;;
	esac
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$(field id)" "$r"
done
`
)

func newWorkflow() *workflow {
	return &workflow{inputs: object{}, outputs: object{}, edges: []object{}, marks: map[string]int{}, want: map[string]string{}, status: "completed", runsOn: "local"}
}

func (w *workflow) json() string {
	return asJSON(object{"description": "A workflow that is stopped and goes on", "runs_on": w.runsOn, "inputs": w.inputs, "nodes": w.nodes, "edges": w.edges, "outputs": w.outputs})
}

func asJSON(v any) string { return string(got(json.Marshal(v))) }

// add adds nodes, one a line: its id ¦ the nodes before it, with a "!" if it follows their failure ¦ the command of a shell node, which writes a
// mark first ¦ what else it has ¦ the parts that leave marks; "." is the node itself ¦ a part of its outputs = what it is in the end.
func (w *workflow) add(table string) {
	for line := range strings.Lines(strings.TrimSpace(table)) {
		f := append(strings.Split(strings.TrimSpace(line), " ¦"), "", "", "", "", "")
		n := object{"id": f[0], "type": "shell", "params": object{}}
		must(json.Unmarshal([]byte(cmp.Or(f[3], "{}")), &n))
		if n["type"] == "shell" {
			n["params"].(object)["command"] = mark + strings.NewReplacer("MARK", mark, "STRAY", stray).Replace(f[2])
		}
		w.nodes = append(w.nodes, n)
		for from := range strings.FieldsSeq(f[1]) {
			edge := object{"from": strings.TrimPrefix(from, "!"), "to": f[0]}
			if from[0] == '!' {
				edge["action"] = "error"
			}
			w.edges = append(w.edges, edge)
		}
		for part := range strings.FieldsSeq(cmp.Or(f[4], ".")) {
			w.marks[f[0]+strings.TrimPrefix(part, ".")]++
		}
		if source, want, ok := strings.Cut(strings.TrimSpace(f[5]), " = "); ok {
			w.outputs[f[0]], w.want[f[0]] = object{"source": "${" + f[0] + source + "}"}, want
		}
	}
}

const (
	// branch is a path that forks, joins, and splits if it fails. B is its number.
	branch = `
bB-split ¦ start ¦ echo $((${start.stdout} + B))
bB-left ¦ bB-split ¦ STRAYecho $((${bB-split.stdout} * 2))
bB-deep ¦ bB-left ¦ echo $((${bB-left.stdout} * 2 + 1))
bB-right ¦ bB-split ¦ echo $((${bB-split.stdout} * 2 + B + 7))
bB-join ¦ bB-deep bB-right ¦ echo $((${bB-deep.stdout} + ${bB-right.stdout}))
bB-try ¦ bB-join ¦ echo ${bB-join.stdout}; FAIL
bB-mend ¦ !bB-try ¦ echo $((${bB-join.stdout} + 1000))
bB-meet ¦ bB-try bB-mend ¦ echo "${v}" ¦ {"params":{"inputs":{"v":"${bB-try.stdout ?? bB-mend.stdout}"}}} ¦ ¦ .stdout = "SUM"`

	// special are nodes that are resumed in a way of their own, that leave a process behind, or that put out secrets, for which § stands.
	special = `
grow ¦ start ¦ test "${__iteration__}" = 4 && done=true || done=false; printf '{"n":%d,"done":%s}' $((${n} * 2)) $done ¦ {"params":{"inputs":{"n":1}},"loop":{"until":"${grow.stdout.done}","carry":{"n":"${grow.stdout.n}"}}} ¦ #1 #2 #3 #4 ¦ .stdout.n = 16
sub ¦ start ¦ ¦ {"type":"workflow","params":{"inputs":{"x":3},"workflow":INNER}} ¦ /a /b /c ¦ .sum = "10"
subs ¦ start ¦ ¦ {"type":"workflow","params":{"inputs":{"x":"${item}"},"workflow":INNER},"batch":{"items":[0,1]}} ¦ [0]/a [0]/b [0]/c [1]/a [1]/b [1]/c ¦ .results[1].sum = "6"
again ¦ start ¦ ¦ {"type":"workflow","params":{"inputs":{"x":0},"workflow":INNER},"loop":{"while":"${again.more}","carry":{"x":"${again.sum}"}}} ¦ /a /b /c #2/a #2/b #2/c #3/a #3/b #3/c ¦ .sum = "28"
slow ¦ start ¦ sleep 0.03
flaky ¦ start ¦ test "$PFLOW_ATTEMPT" = 2 ¦ {"retry":{"max":2,"wait":"2ms"}}
behind ¦ start ¦ (sleep 0.08; MARK) & wait ¦ ¦ . .
stray ¦ start ¦ STRAYtrue
agent ¦ start ¦ ¦ {"type":"agent","params":{"command":"./claude","prompt":"Do it"}} ¦ ¦ .result = "done <redacted>"
tool ¦ start ¦ ¦ {"type":"mcp-trial-mark","params":{"node":"tool"}} ¦ ¦ .result = "marked"
tools ¦ start ¦ ¦ {"type":"mcp-trial-mark","params":{"node":"tools","item":"${item}"},"batch":{"items":[0,1,2],"parallel":true}} ¦ [0] [1] [2] ¦ .success_count = 3
out ¦ start ¦ cat known texts; printf '%s\n' "${pin}" "${a_token}"
err ¦ start ¦ cat known texts >&2; env >&2
fails ¦ start ¦ cat known texts; cat known >&2; exit 4
retried ¦ start ¦ cat known; cat known >&2; exit 3 ¦ {"retry":{"max":2,"wait":"1ms"}}
mended ¦ !fails !retried ¦ true
cached ¦ start ¦ cat known texts ¦ {"cache":true}
bytes ¦ start ¦ printf '\377'; cat known texts
long ¦ start ¦ for i in 1 2 3 4 5 6 7 8 9; do cat texts known texts known texts known; done
literal ¦ start ¦ env; env >&2 ¦ {"params":{"env":{"L_TOKEN":"§","M_API_KEY":"§","N_PASSWORD":"§"}}}
key ¦ start ¦ ¦ {"type":"agent","params":{"command":"./claude","prompt":"p","env":{"ANTHROPIC_API_KEY":"§"}}}`

	// inner is a workflow with the output 2x + 4.
	inner = `
a ¦ ¦ echo $((${x} + 1))
b ¦ ¦ echo $((${x} + 3 + ${a.stdout}))
c ¦ ¦ test "${b.stdout}" -lt 28 && echo yes || echo no`

	// variables are variables with secrets. One in lower case is also an input, which is declared as secret unless its name says it.
	variables = "pin=§\na_token=§\nA_PASSWORD=§\nA_URL=https://h/?token=§&a=b\nA_SECRET=me:§@tcp(h:3306)/db\nANTHROPIC_API_KEY=§"

	// texts are printed, and nothing else tells what in them is secret.
	texts = `see http://me:§@host:80/, it failed; https://§@host/a.git {"url":"http:\/\/me:§@h\/"} /?a&amp;password=§ {"next":"/a?b=1\u0026token=§"} GET /a?token=§ HTTP/1.1
Cookie: theme=dark; token=§; lang=en
{"set-cookie":["a=b","sid=§; Path=/"]} https://h/?next=%2Fcb%3Ftoken%3D§%26a%3Db https://h/?u=https%3a%2f%2fh%2f%3fapi_key%3d§
`
)

// draw draws a workflow. A plain one has short and long outputs, which are written to the journal and to blobs; some are cached.
func (t *trial) draw(plain bool) *workflow {
	w := newWorkflow()
	w.inputs["api_key"] = object{"type": "string", "secret": true}
	w.add(`start ¦ ¦ echo 1
knows ¦ start ¦ test -n "${api_key}" && echo "it is $TOKEN" >&2 ¦ {"params":{"env":{"TOKEN":"${api_key}"}}}
each ¦ start ¦ printf '%0'$((${item} * 9000 + 1))'d' 1 ¦ {"batch":{"items":[0,1,2,3,4,5,6,7],"parallel":true,"max_concurrent":3}} ¦ [0] [1] [2] [3] [4] [5] [6] [7] ¦ .success_count = 8`)
	for i := range 8 {
		size, more := []int{2, 200, 3000, 40_000, 70_000, 150_000}[t.rng.IntN(6)], ""
		if t.rng.IntN(3) == 0 {
			more = `{"cache":true}`
		}
		w.add(fmt.Sprintf("put%d ¦ start ¦ printf '%%0%dd' %d ¦ %s\nuse%d ¦ put%d ¦ n=$(wc -c) && echo $((n)) ¦ {\"params\":{\"stdin\":\"${put%d.stdout}\"}} ¦ ¦ .stdout = \"%d\"", i, size, i, more, i, i, i, size))
	}
	if !plain {
		t.drawMore(w)
	}
	return w
}

func (t *trial) drawMore(w *workflow) {
	for b := range 4 {
		fail, sum := "true", 7*b+14
		if t.rng.IntN(4) == 0 {
			fail, sum = "exit 3", sum+1000
		}
		if w.add(strings.NewReplacer("bB-", fmt.Sprintf("b%d-", b), "B", strconv.Itoa(b), "FAIL", fail, "SUM", strconv.Itoa(sum)).Replace(branch)); fail == "true" {
			delete(w.marks, fmt.Sprintf("b%d-mend", b))
		}
	}
	var known strings.Builder
	hide := func(pattern string, awkward bool) string {
		for strings.Contains(pattern, "§") {
			secret := t.secret(awkward)
			wrapped := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("7", 50) + secret + "."))
			fmt.Fprintf(&known, "it is %s.\n{\"a\":%s}\n%s\n%s\n%s\n%s\n", secret, asJSON(secret), percent(secret), base64.URLEncoding.EncodeToString([]byte("ab"+secret+".")), wrapped[:76], wrapped[76:])
			pattern = strings.Replace(pattern, "§", secret, 1)
		}
		return pattern
	}
	w.inputs["pin"], w.inputs["a_token"] = object{"type": "string", "secret": true}, object{"type": "string"}
	for v := range strings.SplitSeq(variables, "\n") {
		name, pattern, _ := strings.Cut(v, "=")
		t.env[name] = hide(pattern, pattern == "§" && !strings.HasSuffix(name, "_KEY"))
	}
	in := newWorkflow()
	in.inputs["x"], in.outputs["sum"], in.outputs["more"] = object{"type": "integer"}, object{"source": "${b.stdout}"}, object{"source": "${c.stdout}"}
	in.add(inner)
	w.add(hide(strings.ReplaceAll(special, "INNER", in.json()), false))
	w.status = "degraded" // two nodes fail
	t.put("known", known.String())
	t.put("texts", hide(texts, false))
}
