package engine_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Random workflows of http nodes. The path of each call is TAG/VALUES/ROLE: the place in the workflow, the values that the node
// reads, and how the call ends. So the outputs of a node depend on the values that it reads and on nothing else.

// play answers a call. A flaky call fails the first time, unless the world is steady.
func (w *world) play(path string, _ int, _ <-chan struct{}) (status int, body string) {
	tag, rest, _ := strings.Cut(path, "/")
	role := rest[strings.LastIndexByte(rest, '/')+1:]
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tags = append(w.tags, tag)
	first := !w.failed[tag]
	switch {
	case strings.HasPrefix(role, "bad"):
		return http.StatusTeapot, `{"v":"bad"}`
	case strings.HasPrefix(role, "flaky") && !w.steady && first:
		w.failed[tag] = true
		return http.StatusBadGateway, `{"v":"flaky"}`
	}
	more := false
	if at, rounds, ok := strings.Cut(role, "of"); ok { // a round of a loop
		more = at[len(at)-1] < rounds[0]
	}
	sum := sha256.Sum256([]byte(strings.TrimPrefix(path, tag)))
	return http.StatusOK, fmt.Sprintf(`{"v":"%x","more":%t}`, sum[:3], more)
}

// drawn is a random workflow.
type drawn struct {
	definition string
	keepGoing  bool
	// loops has the paths of nodes with a loop.
	loops map[string]bool
}

// drawer draws a random workflow.
type drawer struct {
	*rapid.T
	url   string
	loops map[string]bool
	risky bool // a node may read one that failed by chance, and go on
}

// one is a node that is being drawn.
type one struct {
	id, role       string
	flaky, handled bool // it may fail by chance; an error edge handles its failure
	value          string
	fields         map[string]any
}

func (d *drawer) chance(label string, n int) bool { return rapid.IntRange(1, n).Draw(d.T, label) == 1 }

// workflow draws the nodes of a workflow. prefix precedes their paths and at their tags; given are the values that the first of
// them read.
func (d *drawer) workflow(most, depth int, prefix, at, given string) (w map[string]any, flaky bool) {
	n := rapid.IntRange(1, most).Draw(d.T, "nodes")
	nodes := make([]*one, n)
	for i := range nodes {
		role := rapid.SampledFrom([]string{"ok", "ok", "ok", "ok", "ok", "flaky", "bad"}).Draw(d.T, "role")
		nodes[i] = &one{id: fmt.Sprintf("n%d", i), role: role, flaky: role == "flaky"}
	}
	w = map[string]any{}
	if n > 1 && d.chance("edges", 2) {
		w["edges"] = d.edges(nodes)
	}
	var list []any
	for i, node := range nodes {
		values := given
		for _, from := range nodes[:i] {
			if d.chance("reads", 3) {
				values += "," + from.value
				d.risky = d.risky || from.flaky && !from.handled
			}
		}
		d.fill(node, depth, prefix, at, values)
		list = append(list, node.fields)
		flaky = flaky || node.flaky && !node.handled
	}
	w["nodes"] = list
	outputs := map[string]any{}
	for _, node := range nodes {
		outputs[node.id] = map[string]any{"source": node.value}
	}
	w["outputs"] = outputs
	return w, flaky
}

// edges draws at least one edge to each node except the first.
func (d *drawer) edges(nodes []*one) (edges []any) {
	for i := 1; i < len(nodes); i++ {
		none := true
		for j := range i {
			if !d.chance("edge", 3) && !(none && j == i-1) {
				continue
			}
			none = false
			action := "default"
			if nodes[j].role == "bad" && d.chance("handled", 2) {
				action, nodes[j].handled = "error", true
			}
			edges = append(edges, map[string]any{"from": nodes[j].id, "to": nodes[i].id, "action": action})
		}
	}
	return edges
}

// fill draws the fields of a node.
func (d *drawer) fill(node *one, depth int, prefix, at, values string) {
	path, tag := prefix+node.id, at+node.id
	role := node.role
	node.fields = map[string]any{"id": node.id, "type": "http"}
	node.value = "${" + node.id + `.response.v ?? "-"}`
	body := rapid.SampledFrom([]string{"plain", "plain", "batch", "loop"}).Draw(d.T, "body")
	switch body {
	case "batch":
		d.batch(node)
		tag, role = tag+"_i${__index__}", "${item}"
		node.value = "${" + node.id + `.success_count ?? "-"}`
	case "loop":
		rounds := rapid.IntRange(1, 3).Draw(d.T, "rounds")
		tag, role = tag+"_k${__iteration__}", fmt.Sprintf("%s${__iteration__}of%d", role, rounds)
		d.loops[path] = true
	}
	sub := depth < 2 && d.chance("sub", 4)
	if !sub && node.role != "bad" && d.chance("approval", 6) && body != "batch" {
		node.fields["approval"] = true
	}
	more := ""
	if body == "loop" {
		more = node.id + ".response.more"
		node.fields["loop"] = map[string]any{"while": "${" + more + "}", "carry": map[string]any{"c": "${" + node.id + ".response.v}"}}
	}
	if !sub {
		if node.role != "ok" && d.chance("retry", 3) { // a retried sub-workflow runs all its nodes again
			node.fields["retry"] = map[string]any{"max": 2}
		}
		params := map[string]any{"url": d.url + "/" + tag + "/" + values + "/" + role}
		if body == "loop" {
			params = map[string]any{"url": d.url + "/" + tag + "/" + values + "${c}/" + role, "inputs": map[string]any{"c": "first"}}
		}
		node.fields["params"] = params
		return
	}
	inner, flaky := d.workflow(2, depth+1, path+"/", "${at}.", "${x},${c}")
	if batch, ok := node.fields["batch"].(map[string]any); ok && flaky { // a random failure must not be ignored
		delete(batch, "error_handling")
	}
	node.flaky = node.flaky || flaky
	list, _ := inner["nodes"].([]any)
	// The last of them is called with the outer role.
	last := &one{id: "last", fields: map[string]any{"id": "last", "type": "http", "params": map[string]any{"url": d.url + "/${at}.last/${x}/${role}"}}}
	if edges, ok := inner["edges"].([]any); ok {
		inner["edges"] = append(edges, map[string]any{"from": "n0", "to": "last"})
	}
	inner["nodes"] = append(list, last.fields)
	inner["outputs"] = map[string]any{"response": map[string]any{"source": `${last.response ?? {"v":"-","more":false}}`}}
	inner["inputs"] = map[string]any{"at": map[string]any{}, "x": map[string]any{}, "role": map[string]any{}, "c": map[string]any{"default": "none"}}
	node.fields["type"] = "workflow"
	node.fields["params"] = map[string]any{"workflow": inner, "inputs": map[string]any{"at": tag, "x": values, "role": role}}
}

func (d *drawer) batch(node *one) {
	items := []string{}
	for range rapid.IntRange(0, 4).Draw(d.T, "items") {
		items = append(items, "ok")
	}
	batch := map[string]any{"items": items, "parallel": d.chance("parallel", 2), "max_concurrent": rapid.IntRange(1, 3).Draw(d.T, "width")}
	if at := len(items) - 1; at >= 0 {
		items[rapid.IntRange(0, at).Draw(d.T, "at")] = node.role
		if node.role != "flaky" && d.chance("continue", 2) {
			batch["error_handling"] = "continue"
		}
	}
	node.fields["batch"] = batch
}

// draw draws a workflow that calls the service at a URL.
func draw(t *rapid.T, url string) *drawn {
	d := &drawer{T: t, url: url, loops: map[string]bool{}}
	w, _ := d.workflow(4, 0, "", "", "x")
	raw, err := rawjson.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	return &drawn{definition: string(raw), keepGoing: !d.risky && rapid.Bool().Draw(t, "keep going"), loops: d.loops}
}

// tagOf returns the tag of the calls of a node, by its path.
func (w *drawn) tagOf(path string) string {
	var tags []string
	ids := "" // the path without items and iterations
	for part := range strings.SplitSeq(path, "/") {
		id, tag := part, part
		if i := strings.IndexAny(part, "[#"); i >= 0 {
			id, tag = part[:i], part[:i]+map[byte]string{'[': "_i", '#': "_k"}[part[i]]+strings.TrimSuffix(part[i+1:], "]")
		}
		ids += "/" + id
		if len(tags) > 0 && !strings.Contains(tags[len(tags)-1], "_") && w.loops[strings.TrimPrefix(ids[:strings.LastIndexByte(ids, '/')], "/")] {
			tags[len(tags)-1] += "_k1"
		}
		tags = append(tags, tag)
	}
	return strings.Join(tags, ".")
}
