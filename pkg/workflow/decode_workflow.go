package workflow

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// decode decodes the JSON form, which a scanner has accepted, into a file.
func (d *decoder) decode(f *File, root int) {
	top, ok := d.object(span{root, valueEnd(d.json, root)}, "")
	if !ok {
		return
	}
	body := top
	if ir, ok := top.has("ir"); ok {
		f.Wrapped = true
		top.text(schemaKey)
		top.known(append([]string{"ir", schemaKey, "name", "description", "rich_metadata"}, savedKeys...)...)
		if body, ok = d.object(ir, "ir"); !ok {
			return
		}
	}
	f.Version = top.text("version")
	f.CreatedAt, f.UpdatedAt = top.date("created_at"), top.date("updated_at")
	f.Workflow = body.workflow(f.Wrapped)
	f.inner = f.Workflow.Description != ""
	if f.Wrapped && !f.inner {
		f.Workflow.Description = top.text("description")
	}
}

// workflowKeys lists the fields of a workflow.
var workflowKeys = []string{"ir_version", "description", "category", "tags", "executionType", "inputs", "nodes", "edges", "start_node", "outputs", "template_resolution_mode", "runtime", "budget", "runs_on"}

// schemaKey is the key that names the JSON Schema of the file, for editors.
const schemaKey = "$schema"

func (o object) workflow(wrapped bool) *Workflow {
	schema := o.text(schemaKey)
	o.dropIgnored()
	keys := workflowKeys
	if !wrapped {
		keys = append(slices.Clip(keys), savedKeys...)
	}
	o.known(keys...)
	w := &Workflow{
		Schema:                 schema,
		IRVersion:              o.text("ir_version"),
		Description:            o.text("description"),
		Category:               o.text("category"),
		Tags:                   tagsOf(o),
		StartNode:              o.text("start_node"),
		TemplateResolutionMode: o.text("template_resolution_mode"),
	}
	if w.IRVersion != "" && !isVersion(w.IRVersion) {
		o.add(o.at("ir_version"), "ir_version must be three numbers with dots between them, not %q", w.IRVersion).Suggest(`Write "0.1.0", or leave it out`)
	}
	if w.TemplateResolutionMode != "" {
		o.oneOf("template_resolution_mode", "strict", "permissive")
	}
	if _, ok := o.get("executionType"); ok {
		w.ExecutionType = o.oneOf("executionType", "async", "sync")
	}
	if v, ok := o.has("nodes"); ok {
		for i, n := range o.items(v, o.at("nodes")) {
			if o.full() {
				break
			}
			w.Nodes = append(w.Nodes, o.node(n, item(o.at("nodes"), i)))
		}
	} else {
		o.add(o.at("nodes"), "The workflow has no nodes").Suggest(`Add "nodes": [{"id": "hello", "type": "echo"}]`)
	}
	if v, ok := o.has("edges"); ok {
		for i, e := range o.items(v, o.at("edges")) {
			if o.full() {
				break
			}
			w.Edges = append(w.Edges, o.edge(e, item(o.at("edges"), i)))
		}
	}
	w.Inputs = mapOf(o, "inputs", o.input)
	w.Runtime = part(o, "runtime", o.runtime)
	w.RunsOn = runnerOf(o)
	w.Budget = part(o, "budget", func(key string, v span) *Budget { return budgetOf(o, key, v) })
	w.Outputs = mapOf(o, "outputs", o.output)
	w.index = make(map[string]int, len(w.Nodes))
	for i, n := range slices.Backward(w.Nodes) {
		w.index[n.ID] = i
	}
	return w
}

// tagsOf decodes the list of a workflow's tags.
func tagsOf(o object) (tags []string) {
	v, ok := o.get("tags")
	if !ok {
		return nil
	}
	for i, tag := range o.items(v, o.at("tags")) {
		if o.full() {
			break
		}
		if text := unquoted(o.raw(tag)); strings.TrimSpace(text) != "" {
			tags = append(tags, text)
			continue
		}
		path := item(o.at("tags"), i)
		o.add(path, "%s must be text that is not empty, not %s", path, o.shown(tag)).Suggest(`Write words in double quotes, such as "tool"`)
	}
	return tags
}

func (o object) runtime(key string, v span) *Runtime {
	o, ok := o.object(v, o.at(key))
	if !ok {
		return nil
	}
	o.known("max_output", "fail_degraded", "on_failure")
	r := &Runtime{}
	if _, ok := o.has("on_failure"); ok {
		r.OnFailure = o.oneOf("on_failure", FinishOnFailure, StopOnFailure)
	}
	if v, ok := o.has("max_output"); ok && r.MaxOutput.UnmarshalJSON([]byte(o.raw(v))) != nil {
		o.must("max_output", "a size", v).Suggest(`Write a number of bytes, or text such as "500kB", "30MB" or "2GiB"`)
	}
	if fails, ok := o.flag("fail_degraded"); ok {
		r.FailDegraded = &fails
	}
	return r
}

// budgetOf decodes the budget of a workflow.
func budgetOf(w object, key string, v span) *Budget {
	o, ok := w.object(v, w.at(key))
	if !ok {
		return nil
	}
	o.known("usd", "tokens", "minutes")
	return &Budget{USD: amountOf(o, "usd"), Tokens: o.whole("tokens", 1, MaxTokens, 0), Minutes: amountOf(o, "minutes")}
}

// The largest amounts of a budget.
const (
	MaxAmount = 1e9
	MaxTokens = 1 << 50
)

// amountOf decodes a number above 0, or returns 0 if the field is missing.
func amountOf(o object, key string) float64 {
	v, ok := o.get(key)
	if !ok {
		return 0
	}
	n, err := strconv.ParseFloat(o.raw(v), 64)
	if err != nil || n <= 0 || n > MaxAmount {
		_ = o.must(key, "a number above 0 and at most 1000000000", v)
		return 0
	}
	return n
}

// dropIgnored removes the name of the file's JSON Schema, and the fields of older workflow files that have no effect here.
func (o *object) dropIgnored() {
	kept := o.fields[:0:0]
	for _, f := range o.fields {
		switch {
		case f.key == schemaKey:
		case f.key == "mappings":
			o.add(o.at(f.key), "mappings has no effect").Suggest("Remove it, and read values with templates such as ${node.key}")
		case f.key != "enable_namespacing":
			kept = append(kept, f)
		case o.raw(f.value) == "false":
			o.add(o.at(f.key), "enable_namespacing cannot be false: every node has its own namespace").Suggest("Remove it, and read values with templates such as ${node.key}")
		default:
			o.flag(f.key)
		}
	}
	o.fields = kept
}

// isVersion reports whether a text is a version such as 0.1.0.
func isVersion(s string) bool {
	parts := strings.Split(s, ".")
	for _, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	return len(parts) == 3
}

// mapOf decodes an object whose values have one type.
func mapOf[T any](o object, key string, one func(span, string) T) map[string]T {
	v, ok := o.has(key)
	if !ok {
		return nil
	}
	entries, _ := o.object(v, o.at(key))
	out := make(map[string]T, len(entries.fields))
	for _, f := range entries.fields {
		if o.full() {
			break
		}
		if f.key == "" {
			o.add(entries.path, "A name in %s is empty", o.at(key)).Suggest("Give it a name that templates can use")
		}
		out[f.key] = one(f.value, entries.at(f.key))
	}
	return out
}

func (d *decoder) edge(v span, path string) (e Edge) {
	o, ok := d.object(v, path)
	if !ok {
		return e
	}
	o.rename("source", "from")
	o.rename("target", "to")
	o.known("from", "to", "action")
	e.From = o.required("from", "Name the node that the edge starts at")
	e.To = o.required("to", "Name the node that the edge leads to")
	e.Action = o.text("action")
	if e.Action == "" {
		e.Action = ActionDefault
	}
	return e
}

// rename renames a synonym of a field. Having both names is a fault.
func (o *object) rename(synonym, key string) {
	for i, f := range o.fields {
		if f.key != synonym {
			continue
		}
		if _, both := o.has(key); both {
			o.add(o.at(synonym), "%s has both %q and %q, which mean the same", called(o.path), key, synonym).Suggest("Keep %q", key)
		}
		o.fields[i].key = key
		return
	}
}

func (d *decoder) input(v span, path string) (in Input) {
	o, ok := d.object(v, path)
	if !ok {
		return in
	}
	o.known("description", "type", "required", "default", "stdin", "secret")
	in.Description = o.text("description")
	in.Stdin, _ = o.flag("stdin")
	in.Secret, _ = o.flag("secret")
	if required, ok := o.flag("required"); ok {
		in.Required = &required
	}
	word := o.text("type")
	if in.Type, ok = inputTypes[word]; !ok {
		f := o.add(o.at("type"), "Unknown input type %q", word)
		if near, ok := fault.Nearest(word, InputTypes()); ok {
			f.Suggest("Did you mean %q?", near)
		}
		f.Available = InputTypes()
	}
	if def, ok := o.has("default"); ok {
		in.Default = json.RawMessage(o.raw(def))
	}
	return in
}

func (d *decoder) output(v span, path string) (out Output) {
	o, ok := d.object(v, path)
	if !ok {
		return out
	}
	o.known("description", "type", "source", "stdout")
	out.Description, out.Type = o.text("description"), o.text("type")
	out.Source = o.required("source", "Write where the value comes from, such as ${node.key}")
	out.Stdout, _ = o.flag("stdout")
	return out
}

// suggestion says what to write instead of an unknown field, or returns "".
func suggestion(path, key string, keys []string) string {
	in := ""
	if steps := stepsOf(strings.TrimPrefix(path, "ir.")); len(steps) == 2 {
		in = steps[0].key
	} else if path == "" || path == "ir" {
		in = "workflow"
	}
	if s := misnomer(in + "." + key); s != "" {
		return s
	}
	if near, ok := fault.Nearest(key, keys); ok {
		return "Did you mean \"" + near + "\"?"
	}
	return ""
}

// misnomer says what to write instead of a field of other systems, or returns "".
func misnomer(field string) string {
	switch field {
	case "workflow.name":
		return "A workflow has the name of its file: remove the field"
	case "workflow.title", "workflow.metadata":
		return `Write what the workflow is for in "description"`
	case "workflow.steps", "workflow.tasks":
		return `The steps are in "nodes"`
	case "workflow.params", "workflow.parameters":
		return `The inputs of a run are in "inputs"`
	case "nodes.name":
		return `A node's name is its "id"`
	case "nodes.config", "nodes.with", "nodes.args":
		return `A node's parameters are in "params"`
	case "nodes.description":
		return `Write what the step is for in "purpose"`
	case "nodes.depends_on", "nodes.needs", "nodes.next":
		return `Order nodes with the workflow's "edges"; a template waits for the node that it reads`
	case "nodes.on_error", "nodes.on-error":
		return `Add an edge with "action": "error" to the workflow's "edges"`
	case "nodes.retries", "nodes.max_retries":
		return `Write "retry": {"max": 3}`
	case "nodes.command", "nodes.prompt", "nodes.url", "nodes.message":
		return `It is a parameter: put it into "params"`
	case "edges.condition", "edges.on":
		return `An edge is taken if its node ends with the edge's "action"`
	case "inputs.value":
		return `Write it as "default"`
	case "inputs.optional":
		return `Write "required": false`
	case "outputs.value", "outputs.from":
		return `Write it as "source"`
	}
	return ""
}
