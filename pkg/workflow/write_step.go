package workflow

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// steps writes the nodes with their routes.
func (m *writer) steps() {
	routes := m.routes()
	for i, n := range m.w.Nodes {
		path := item("nodes", i)
		if n.ID == EndOfBranch {
			m.cannot(path, "Give it another id", "A step of the Markdown form cannot have the name end")
		}
		m.heading(path, n.ID, n.Purpose, "purpose")
		m.line("- type: ", scalarText(n.Type))
		for _, r := range routes[i] {
			m.line("- ", r)
		}
		m.runs(n)
		m.params(path, n)
	}
}

// params writes a node's parameters. Only the JSON form can have parameters with the names of a step's fields.
func (m *writer) params(path string, n Node) {
	fieldsOf(string(n.Params), 0, func(f field) bool {
		raw := n.Params[f.value.at:f.value.end]
		taken := f.key == "type" || f.key == "next" || f.key == "on-error" || slices.Contains(nodeFields, f.key)
		if f.key == "timeout" && raw[0] != '{' {
			taken = n.Timeout != nil
		}
		if taken {
			path := rawjson.JoinPath(path+".params", f.key)
			m.cannot(path, "Keep the workflow in the JSON form", "The Markdown form cannot have a parameter with the name %s, which is a field of the step there", f.key)
			return true
		}
		m.value(f.key, raw)
		return true
	})
}

// runs writes the batch, loop, retry and so on of a node, without default values.
func (m *writer) runs(n Node) {
	if b := n.Batch; b != nil {
		m.fields("batch", fieldText("items", b.Items, nil), fieldText("as", b.As, defaultItem), fieldText("error_handling", b.ErrorHandling, "fail_fast"),
			fieldText("parallel", b.Parallel, false), fieldText("max_concurrent", b.MaxConcurrent, defaultMaxConcurrent),
			fieldText("max_retries", b.MaxRetries, defaultMaxRetries), fieldText("retry_wait", b.RetryWait, Duration(0)))
	}
	if l := n.Loop; l != nil {
		m.fields("loop", fieldText("while", l.While, ""), fieldText("until", l.Until, ""), fieldText("carry", l.Carry, nil),
			fieldText("max_iterations", l.MaxIterations, defaultMaxIterations), fieldText("wait", l.Wait, nil), fieldText("backoff", l.Backoff, nil),
			fieldText("max_wait", l.MaxWait, nil))
	}
	if r := n.Retry; r != nil {
		m.fields("retry", fieldText("max", r.Max, 0), fieldText("wait", r.Wait, Duration(0)), fieldText("backoff", r.Backoff, "fixed"),
			fieldText("max_wait", r.MaxWait, max(defaultMaxWait, r.Wait)), fieldText("jitter", r.Jitter, 0.0), fieldText("only_exit_codes", r.OnlyExitCodes, nil))
	}
	if t := n.Timeout; t != nil {
		m.fields("timeout", fieldText("node", t.Node, Duration(0)), fieldText("attempt", t.Attempt, Duration(0)))
	}
	if a := n.Approval; a != nil && a.Question == "" && a.Choices == nil && a.By == "" {
		m.line("- approval: required")
	} else if a != nil {
		m.fields("approval", fieldText("question", a.Question, ""), fieldText("choices", a.Choices, nil), fieldText("by", a.By, ""))
	}
	if c := n.Cache; c != nil && c.TTL == defaultTTL {
		m.line("- cache: true")
	} else if c != nil {
		m.fields("cache", fieldText("ttl", c.TTL, defaultTTL))
	}
	m.runsOn(&n)
	m.flag("idempotent", n.Idempotent)
	m.flag("unsafe_templates", n.UnsafeTemplates)
}

// fieldText returns a field as a line of YAML, or "" if the value is the default.
func fieldText(key string, value, otherwise any) string {
	raw, err := rawjson.Marshal(value)
	if err != nil || string(raw) == "null" || sameJSON(value, otherwise) {
		return ""
	}
	return key + ": " + inline(raw)
}

// fields writes the lines of a mapping in a code block. Empty lines are left out.
func (m *writer) fields(name string, lines ...string) {
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	m.block("yaml "+name, strings.Join(lines, "\n"))
}

// routes returns the next and on-error lines of each node, without those that are implied.
func (m *writer) routes() [][]string {
	nodes := m.w.Nodes
	at := make(map[string]int, len(nodes))
	for i, n := range nodes {
		at[n.ID] = i
	}
	written, made := m.w.edges()
	edges := len(written)+len(made) > 0
	if len(nodes) > 1 && !edges {
		m.cannot("edges", "Add the edges, or keep the workflow in the JSON form", "The workflow has no edges, but in the Markdown form each step leads to the next one")
	}
	n := len(nodes)
	targets := make([]map[string][]string, n)
	reach := newReach(n)
	for i, e := range written {
		from, known := at[e.From]
		to, also := at[e.To]
		ends := e.Ends() && e.Action != ActionError
		if !known || !also && !ends {
			m.cannot(item("edges", i), "Name existing nodes", "The edge from %q to %q names a node that does not exist", e.From, e.To)
			continue
		}
		addTarget(targets, from, e)
		if !ends {
			reach.lead(from, to, e.Action)
		}
	}
	for _, e := range made {
		from := at[e.From]
		if to, ok := at[e.To]; ok {
			reach.leadByCode(from, to)
			if targets[from][ActionDefault] == nil { // only a next without default keeps the step below from following
				addTarget(targets, from, e)
			}
		}
	}
	lines := make([][]string, n)
	for i, n := range nodes {
		if i > 0 && !reach.reached[i] && m.w.StartNode == "" && edges {
			m.cannot(item("nodes", i), "Put it first, or keep the workflow in the JSON form", "No edge leads to node %q, but in the Markdown form only the first step can be without one", n.ID)
		}
		last := i+1 == len(nodes)
		plain := last || !reach.needsNext(i) && !reach.branchBelow(i)
		lines[i] = routeLines(targets[i], plain, last, func(id string) bool { return at[id] == i+1 })
	}
	return lines
}

// routeLines returns the next and on-error lines of a node. If plain, a next that names the step below is implied.
func routeLines(targets map[string][]string, plain, last bool, isNext func(id string) bool) (lines []string) {
	errors := targets[ActionError]
	if len(errors) == 1 {
		lines = append(lines, "on-error: "+errors[0])
	}
	following := targets[ActionDefault]
	actions := make([]string, 0, len(targets))
	for action := range targets {
		if action != ActionDefault && (action != ActionError || len(errors) > 1) {
			actions = append(actions, action)
		}
	}
	slices.Sort(actions)
	switch {
	case len(actions) > 0:
		var pairs []string
		if len(following) > 0 {
			pairs = append(pairs, ActionDefault+": "+idList(following))
		}
		for _, action := range actions {
			pairs = append(pairs, string(rawjson.Quote(action))+": "+idList(targets[action]))
		}
		return append(lines, "next: {"+strings.Join(pairs, ", ")+"}")
	case plain && (last && idList(following) == EndOfBranch || len(following) == 1 && isNext(following[0])):
		return lines
	}
	return append(lines, "next: "+idList(following))
}

// addTarget adds the target of an edge to those of its node.
func addTarget(targets []map[string][]string, from int, e Edge) {
	if targets[from] == nil {
		targets[from] = map[string][]string{}
	}
	targets[from][e.Action] = append(targets[from][e.Action], e.To)
}

func idList(ids []string) string {
	switch len(ids) {
	case 0:
		return EndOfBranch
	case 1:
		return ids[0]
	}
	return "[" + strings.Join(ids, ", ") + "]"
}

// runsOn writes where a node runs.
func (m *writer) runsOn(n *Node) {
	if n.RunsOn != "" {
		m.line("- runs_on: ", scalarText(n.RunsOn))
	}
}
