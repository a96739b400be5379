package workflow

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/yaml"
)

// Markdown returns a workflow in the Markdown form. Parsing it results in the same workflow, except for the order of edges, and
// that the title is the description of a workflow without one. The error is a fault that lists everything that the Markdown
// form cannot express, such as a node without a purpose.
func Markdown(w *Workflow, title string) ([]byte, error) {
	raw, err := rawjson.Marshal(w)
	if err != nil {
		return nil, fault.New(fault.Validation, "The workflow contains a value that is not valid JSON")
	}
	f, err := Parse("the workflow", raw)
	if err != nil {
		return nil, err
	}
	m := &writer{decoder: &decoder{file: f.Name, text: f.text, json: f.json, places: f.places}, w: f.Workflow}
	title = strings.Join(strings.Fields(title), " ")
	m.write(title)
	if err := m.fault(); err != nil {
		return nil, err
	}
	again, err := Parse("the workflow.pflow.md", m.out.Bytes())
	if err != nil {
		return nil, err
	}
	if part := difference(f.Workflow, again.Workflow, title); part != "" {
		return nil, fault.New(fault.Validation, "The Markdown form cannot express %s", part)
	}
	return m.out.Bytes(), nil
}

// difference returns the path of a part in which two workflows differ, or "".
func difference(a, b *Workflow, title string) string {
	left, right := *a, *b
	if left.Description == "" {
		left.Description = title
	}
	left.index, right.index = nil, nil
	left.Edges, right.Edges = a.significantEdges(), b.significantEdges()
	if len(left.Nodes) != len(right.Nodes) {
		return "nodes"
	}
	for i := range left.Nodes {
		if !sameJSON(left.Nodes[i], right.Nodes[i]) {
			return item("nodes", i)
		}
	}
	l, r := reflect.ValueOf(left), reflect.ValueOf(right)
	for i := range l.NumField() {
		if field := l.Type().Field(i); field.IsExported() && !sameJSON(l.Field(i).Interface(), r.Field(i).Interface()) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			return name
		}
	}
	return ""
}

// significantEdges returns the edges that decide what follows, sorted. An edge that ends a branch which would end without it is
// not among them.
func (w *Workflow) significantEdges() (edges []Edge) {
	all := w.AllEdges()
	chooses := map[string]bool{}
	for _, e := range all {
		chooses[e.From] = chooses[e.From] || Chooses(e.Action)
	}
	for _, e := range all {
		if !e.Ends() || e.Action != EndOfBranch && chooses[e.From] {
			edges = append(edges, e)
		}
	}
	slices.SortFunc(edges, func(a, b Edge) int {
		return slices.Compare([]string{a.From, a.To, a.Action}, []string{b.From, b.To, b.Action})
	})
	return slices.Compact(edges)
}

// sameJSON reports whether two values have equal JSON forms. Numbers must have the same spelling.
func sameJSON(a, b any) bool {
	var values [2]any
	for i, v := range []any{a, b} {
		raw, err := rawjson.Marshal(v)
		if err != nil {
			return false
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if d.Decode(&values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// writer writes the Markdown form. Its decoder, which has the JSON form, collects what cannot be expressed.
type writer struct {
	*decoder
	w   *Workflow
	out bytes.Buffer
}

func (m *writer) line(parts ...string) {
	for _, p := range parts {
		m.out.WriteString(p)
	}
	m.out.WriteByte('\n')
}

// cannot reports something that the Markdown form cannot express.
func (m *writer) cannot(path, suggestion, format string, args ...any) {
	f := m.add(path, format, args...)
	f.File, f.Line, f.Column = "", 0, 0
	f.Suggest("%s", suggestion)
}

func (m *writer) write(title string) {
	m.front()
	if title != "" {
		m.line("# ", title)
	}
	if description := m.w.Description; description != "" && isProse(description) {
		m.line("\n", description)
	}
	if len(m.w.Inputs) > 0 {
		m.line("\n## Inputs")
	}
	for _, name := range slices.Sorted(maps.Keys(m.w.Inputs)) {
		in := m.w.Inputs[name]
		m.heading(rawjson.JoinPath("inputs", name), name, in.Description, "description")
		if in.Type != "any" {
			m.line("- type: ", in.Type)
		}
		if in.Required != nil {
			m.line("- required: ", strconv.FormatBool(*in.Required))
		}
		m.flag("stdin", in.Stdin)
		m.flag("secret", in.Secret)
		if in.Type == "string" && in.Default != nil && in.Default[0] != '"' && in.Default[0] != 'n' {
			m.block("json default", string(in.Default)) // inline, the value would be text
		} else if in.Default != nil {
			m.value("default", in.Default)
		}
	}
	m.line("\n## Steps")
	m.steps()
	if len(m.w.Outputs) > 0 {
		m.line("\n## Outputs")
	}
	for _, name := range slices.Sorted(maps.Keys(m.w.Outputs)) {
		out := m.w.Outputs[name]
		m.heading(rawjson.JoinPath("outputs", name), name, out.Description, "description")
		if out.Type != "" {
			m.line("- type: ", scalarText(out.Type))
		}
		m.flag("stdout", out.Stdout)
		m.value("source", rawjson.Quote(out.Source))
	}
}

// front writes the front matter, for fields that have no other place.
func (m *writer) front() {
	fields := [][2]string{
		{"ir_version", m.w.IRVersion}, {"category", m.w.Category}, {"executionType", m.w.ExecutionType},
		{"start_node", m.w.StartNode}, {"runs_on", m.w.RunsOn}, {"template_resolution_mode", m.w.TemplateResolutionMode},
	}
	if !isProse(m.w.Description) {
		fields = append(fields, [2]string{"description", m.w.Description})
	}
	fields = slices.DeleteFunc(fields, func(f [2]string) bool { return f[1] == "" })
	if len(fields) == 0 && len(m.w.Tags) == 0 && m.w.Runtime == nil && m.w.Budget == nil {
		return
	}
	m.line("---")
	for _, f := range fields {
		m.line(f[0], ": ", scalarText(f[1]))
	}
	m.tags()
	m.runtime()
	m.budget()
	m.line("---\n")
}

// tags writes the field tags of the front matter.
func (m *writer) tags() {
	if len(m.w.Tags) == 0 {
		return
	}
	tags := make([]string, len(m.w.Tags))
	for i, tag := range m.w.Tags {
		tags[i] = string(rawjson.Quote(tag))
	}
	m.line("tags: [", strings.Join(tags, ", "), "]")
}

// runtime writes the field runtime of the front matter.
func (m *writer) runtime() {
	r := m.w.Runtime
	if r == nil {
		return
	}
	var fields []string
	if r.MaxOutput > 0 {
		fields = append(fields, "max_output: "+strconv.FormatInt(int64(r.MaxOutput), 10))
	}
	if r.FailDegraded != nil {
		fields = append(fields, "fail_degraded: "+strconv.FormatBool(*r.FailDegraded))
	}
	if r.OnFailure != "" {
		fields = append(fields, "on_failure: "+r.OnFailure)
	}
	m.line("runtime: {", strings.Join(fields, ", "), "}")
}

// budget writes the field budget of the front matter.
func (m *writer) budget() {
	b := m.w.Budget
	if b == nil {
		return
	}
	var fields []string
	add := func(name string, n float64) {
		if n > 0 {
			fields = append(fields, name+": "+strconv.FormatFloat(n, 'f', -1, 64))
		}
	}
	add("usd", b.USD)
	add("tokens", float64(b.Tokens))
	add("minutes", b.Minutes)
	m.line("budget: {", strings.Join(fields, ", "), "}")
}

func (m *writer) flag(key string, on bool) {
	if on {
		m.line("- ", key, ": true")
	}
}

// heading writes the heading of an entity and its description.
func (m *writer) heading(path, id, description, field string) {
	if !isID(id) {
		m.cannot(path, "Start with a lower-case letter, then use lower-case letters, digits, - and _", "The Markdown form cannot have the name %q", id)
	}
	path = rawjson.JoinPath(path, field)
	switch {
	case description == "":
		m.cannot(path, "Write a sentence about what it is for", "%s is missing, but the Markdown form requires it", path)
	case !isProse(description):
		m.cannot(path, "Write plain paragraphs, without lists, headings and code blocks", "%s must be plain prose in the Markdown form", path)
	}
	m.line("\n### ", id, "\n\n", description, "\n")
}

// isProse reports whether text below a heading is read back unchanged.
func isProse(s string) bool {
	blank := true
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" && blank {
			return s == ""
		}
		if blank = line == ""; blank {
			continue
		}
		o := (&decoder{text: &text{s: line}}).outline()
		if len(o.d.faults) > 0 || len(o.prose.lines) != 1 || o.prose.lines[0] != line || line[0] == '-' {
			return false
		}
	}
	return !blank || s == ""
}

// scalarText returns a text as YAML in one line.
func scalarText(s string) string {
	if s != "" && strings.IndexByte("+-.0123456789", s[0]) < 0 {
		n, errors := yaml.Parse("k: "+s, 0, 3+len(s), 0)
		if e, ok := n.Get("k"); ok && len(errors) == 0 && e.Value.Kind == yaml.Plain && e.Value.Text == s {
			if raw, errors := e.Value.AppendJSON(nil); len(errors) == 0 && raw[0] == '"' {
				return s
			}
		}
	}
	return string(rawjson.Quote(s))
}

// inline returns a JSON value as YAML in one line.
func inline(raw json.RawMessage) string {
	if raw[0] == '"' {
		return scalarText(unquote(string(raw)))
	}
	return string(rawjson.Compact(raw))
}

// value writes a parameter: long text, lists and objects in a code block, other values inline.
func (m *writer) value(name string, raw json.RawMessage) {
	isText := raw[0] == '"'
	s := unquoted(string(raw))
	simple := isName(strings.TrimLeft(name, "_"))
	switch {
	case simple && isText && !strings.Contains(s, "\r") && (strings.Contains(s, "\n") || name == "command" || name == "code" || name == "prompt"):
		m.block(tagOf(name), s)
	case simple && (raw[0] == '{' || raw[0] == '[') && len(raw) > 2:
		var b bytes.Buffer
		_ = json.Indent(&b, bytes.TrimSpace(raw), "", "  ") // the value was parsed before
		m.block("json "+name, b.String())
	default:
		key := name
		if !simple {
			key = string(rawjson.Quote(name))
		}
		m.line("- ", key, ": ", inline(raw))
	}
}

// tagOf returns the tag of the code block of a text parameter.
func tagOf(name string) string {
	switch name {
	case "command":
		return "shell command"
	case "code":
		return "python code"
	case "prompt":
		return "prompt"
	}
	return "text " + name
}

// block writes a code block with a fence that is longer than any fence inside.
func (m *writer) block(tag, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	m.line("\n", fence, tag)
	m.line(text)
	m.line(fence)
}
