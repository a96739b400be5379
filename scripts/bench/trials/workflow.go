package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"strconv"
)

type object = map[string]any

// workflow is the workflow of a trial, and its expected results.
type workflow struct {
	nodes, edges []object
	outputs      object
	// effects are the keys of the side effects that its nodes, items and iterations must leave.
	effects []string
	// want has the run's outputs as JSON.
	want map[string]string
	// status is the final status of a run.
	status string
}

// effect is a shell command that writes a side effect, what runs and its key, in one short write.
const effect = `echo "$PFLOW_RUN_ID $PFLOW_NODE_ID ${PFLOW_ITEM:--} ${PFLOW_ITERATION:--} $PFLOW_ATTEMPT ${PFLOW_NODE_KEY:--}" >> "$EFFECTS"; `

// add adds a shell node that leaves a side effect, and the edges that lead to it. inputs has values for its command.
func (w *workflow) add(id, command string, inputs object, after ...string) object {
	n := shell(id, command, inputs)
	w.nodes = append(w.nodes, n)
	w.after(id, after...)
	w.effects = append(w.effects, id)
	return n
}

func shell(id, command string, inputs object) object {
	params := object{"command": effect + command}
	if inputs != nil {
		params["inputs"] = inputs
	}
	return object{"id": id, "type": "shell", "params": params}
}

func (w *workflow) after(id string, after ...string) {
	for _, from := range after {
		w.edges = append(w.edges, object{"from": from, "to": id})
	}
}

// parts adds the side effects of a node's parts. With instead they replace that of the node itself.
func (w *workflow) parts(id string, instead bool, parts ...string) {
	if instead {
		w.effects = w.effects[:len(w.effects)-1]
	}
	for _, p := range parts {
		w.effects = append(w.effects, id+p)
	}
}

func (w *workflow) json() []byte {
	b, err := json.Marshal(object{"description": "A workflow that is stopped and goes on", "nodes": w.nodes, "edges": w.edges, "outputs": w.outputs})
	if err != nil {
		panic(err)
	}
	return b
}

func (w *workflow) output(name, source, want string) {
	w.outputs[name] = object{"source": source}
	w.want[name] = want
}

const (
	branches = 6
	items    = 20
)

// branching returns the workflow of the kill trials. It has 64 nodes: most are in branches that fork, join and split after a
// failure. The others are a batch, loops, sub-workflows, a node that is retried, those that leave a process behind, an agent, and
// those that call an MCP server.
func branching(rng *rand.Rand) *workflow {
	w := &workflow{outputs: object{}, want: map[string]string{}, status: "completed"}
	w.add("start", "echo 1", nil)
	total := 0
	var ends []string
	sum := object{}
	for b := range branches {
		fails := rng.IntN(4) == 0
		if fails {
			w.status = "degraded"
		}
		end := w.branch(fmt.Sprintf("b%d-", b), b, fails)
		total += 6*(b+1) + b + 8
		if fails {
			total += 1000
		}
		ends = append(ends, end)
		sum[fmt.Sprintf("v%d", b)] = "${" + end + ".stdout}"
	}
	w.special()
	w.outside()
	ends = append(ends, "each", "grow", "sub", "subs", "again", "count", "slow", "flaky", "behind", "stray", "agent", "tool", "tools")
	w.add("total", "echo $((${v0} + ${v1} + ${v2} + ${v3} + ${v4} + ${v5}))", sum, ends...)
	w.output("total", "${total.stdout}", strconv.Quote(strconv.Itoa(total)))
	return w
}

// branch adds eight nodes: one, two parallel paths, their join, a node that may fail, one that handles its failure, and one after
// both.
func (w *workflow) branch(p string, b int, fails bool) (end string) {
	value := func(id string) string { return "${" + p + id + ".stdout}" }
	w.add(p+"split", fmt.Sprintf("echo $((${start.stdout} + %d))", b), nil, "start") // b+1
	w.add(p+"left", stray+"echo $(("+value("split")+" * 2))", nil, p+"split")
	w.add(p+"deep", "echo $(("+value("left")+" * 2 + 1))", nil, p+"left")                         // 4(b+1)+1
	w.add(p+"right", fmt.Sprintf("echo $((%s * 2 + %d + 7))", value("split"), b), nil, p+"split") // 2(b+1)+b+7
	w.add(p+"join", "echo $(("+value("deep")+" + "+value("right")+"))", nil, p+"deep", p+"right")
	try := "echo " + value("join")
	if fails {
		try += "; exit 3"
	}
	w.add(p+"try", try, nil, p+"join")
	w.add(p+"mend", "echo $(("+value("join")+" + 1000))", nil)
	w.edges = append(w.edges, object{"from": p + "try", "to": p + "mend", "action": "error"})
	if !fails {
		w.parts(p+"mend", true)
	}
	w.add(p+"meet", `echo "${v}"`, object{"v": "${" + p + "try.stdout ?? " + p + "mend.stdout}"}, p+"try", p+"mend")
	return p + "meet"
}

// special adds ten nodes, each of which is resumed in a different way.
func (w *workflow) special() {
	each := w.add("each", "echo $((${item} * ${item}))", nil, "start")
	each["batch"] = object{"items": numbers(items), "parallel": true, "max_concurrent": 4}
	var parts []string
	for i := range items {
		parts = append(parts, fmt.Sprintf("[%d]", i))
	}
	w.parts("each", true, parts...)
	w.output("squares", "${each.success_count} items, the last ${each.results[19].stdout}", `"20 items, the last 361"`)

	grow := w.add("grow", `test "${__iteration__}" = 5 && done=true || done=false; printf '{"n":%d,"done":%s}' $((${n} * 2)) $done`, object{"n": 1}, "start")
	grow["loop"] = object{"until": "${grow.stdout.done}", "carry": object{"n": "${grow.stdout.n}"}}
	w.parts("grow", true, "#1", "#2", "#3", "#4", "#5")
	w.output("grown", "${grow.stdout.n}", "32")

	w.sub("sub", nil, "3", "")
	w.output("sub", "${sub.sum}", `"10"`)
	w.sub("subs", object{"batch": object{"items": numbers(3)}}, "${item}", "[0]", "[1]", "[2]")
	w.output("subs", "${subs.results[2].sum}", `"8"`)
	w.sub("again", object{"loop": object{"while": "${again.more}", "carry": object{"x": "${again.sum}"}}}, "0", "", "#2", "#3")
	w.output("again", "${again.sum}", `"28"`)

	w.add("long", "printf '%070000d' 7", nil, "start")
	count := shell("count", "wc -c | tr -d ' '", nil)
	count["params"].(object)["stdin"] = "${long.stdout}"
	w.nodes, w.effects = append(w.nodes, count), append(w.effects, "count")
	w.after("count", "long")
	w.output("count", "${count.stdout}", `"70000"`)

	w.add("slow", "sleep 0.03", nil, "start")
	flaky := w.add("flaky", `test "$PFLOW_ATTEMPT" = 2`, nil, "start")
	flaky["retry"] = object{"max": 2, "wait": "2ms"}
	// The process in the background must not outlive the run.
	w.add("behind", "(sleep 0.08; "+effect+") & wait", nil, "start")
	w.parts("behind", true, "", "")
}

// sub adds a node that is a workflow of three nodes with the output 2·x + 4. The keys of its nodes follow each of at.
func (w *workflow) sub(id string, more object, x string, at ...string) {
	inner := object{
		"inputs": object{"x": object{"type": "integer"}},
		"nodes": []object{
			shell("a", "echo $((${x} + 1))", nil), shell("b", "echo $((${x} + 3))", nil), shell("c", "echo $((${a.stdout} + ${b.stdout}))", nil),
		},
		"outputs": object{"sum": object{"source": "${c.stdout}"}},
	}
	var value any = x
	if n, err := strconv.Atoi(x); err == nil {
		value = n
	}
	if _, loops := more["loop"]; loops { // the loop ends when the output more is no
		inner["nodes"] = append(inner["nodes"].([]object), shell("d", `test "${c.stdout}" -lt 28 && echo yes || echo no`, nil))
		inner["outputs"].(object)["more"] = object{"source": "${d.stdout}"}
	}
	n := object{"id": id, "type": "workflow", "params": object{"workflow": inner, "inputs": object{"x": value}}}
	maps.Copy(n, more)
	w.nodes = append(w.nodes, n)
	w.after(id, "start")
	for _, place := range at {
		for _, m := range inner["nodes"].([]object) {
			w.effects = append(w.effects, path.Join(id+place, m["id"].(string)))
		}
	}
}

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// filling returns the workflow of the full trials. Its nodes have short and long outputs, which are written to the journal and to
// blobs, and some are cached.
func filling(rng *rand.Rand) *workflow {
	w := &workflow{outputs: object{}, want: map[string]string{}, status: "completed"}
	w.add("start", "echo 1", nil)
	var ends []string
	for i := range 16 {
		size := []int{1, 200, 3000, 40_000, 70_000, 150_000}[rng.IntN(6)]
		id, next := fmt.Sprintf("put%d", i), fmt.Sprintf("use%d", i)
		put := w.add(id, fmt.Sprintf("printf '%%0%dd' %d", size, i), nil, "start")
		if rng.IntN(3) == 0 {
			put["cache"] = true
		}
		use := w.add(next, "wc -c | tr -d ' '", nil, id)
		use["params"].(object)["stdin"] = "${" + id + ".stdout}"
		length := max(size, len(strconv.Itoa(i)))
		w.output(next, "${"+next+".stdout}", strconv.Quote(strconv.Itoa(length)))
		ends = append(ends, next)
	}
	each := w.add("each", "printf '%0'$((${item} * 5000 + 1))'d' 1", nil, "start")
	each["batch"] = object{"items": numbers(items), "parallel": true, "max_concurrent": 3}
	var parts []string
	for i := range items {
		parts = append(parts, fmt.Sprintf("[%d]", i))
	}
	w.parts("each", true, parts...)
	w.output("items", "${each.success_count}", "20")
	w.add("last", "echo done", nil, append(ends, "each")...)
	w.output("last", "${last.stdout}", `"done"`)
	return w
}
