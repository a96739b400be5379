package workflow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/program"
	"github.com/pflow-suite/pflow/pkg/workflow/yaml"
)

// markdown reads a file of the Markdown form: it converts the file to the JSON form and decodes that.
func (d *decoder) markdown(f *File) {
	if strings.TrimSpace(d.text.s) == "" {
		d.addAt(0, "", "%s is empty", d.file).Suggest("Start with # and a title, then write the steps below ## Steps")
		return
	}
	o := d.outline()
	places := &markdownPlaces{text: d.text, outline: &o.outline}
	d.places = places
	c := &converter{decoder: d, out: make([]byte, 0, 2*len(d.text.s)), places: places}
	c.workflow(&o.outline)
	if !o.lost {
		c.structure(&o.outline)
	}
	var indented bytes.Buffer
	_ = json.Indent(&indented, c.out, "", "  ") // the converter writes valid JSON
	d.json = indented.String() + "\n"
	if s := (&scanner{d: d, text: d.json, converted: true}); s.all() && !d.full() {
		d.decode(f, 0)
	}
}

// structure reports missing parts of a file.
func (c *converter) structure(o *outline) {
	example := "Write ## Steps, and below it ### hello, a sentence about the step, and - type: echo"
	switch at := o.found[stepsSection]; {
	case at < 0:
		f := c.addAt(0, "", "Missing '## Steps' section").Suggest("%s", example)
		if text := strings.TrimLeft(c.text.s, " \t\r\n"); text[0] == '{' {
			f.Suggest("The file looks like JSON: give it a name that ends in .json")
		}
	case len(o.entities[stepsSection]) == 0:
		c.addAt(at, "nodes", "The '## Steps' section has no steps").Suggest("%s", example)
	}
}

// converter writes the JSON form of an outline.
type converter struct {
	*decoder
	out    []byte
	places *markdownPlaces
}

// item starts an object in a list.
func (c *converter) item() {
	c.comma()
	c.out = append(c.out, '{')
}

// open starts an object or a list that is the value of a key.
func (c *converter) open(bracket byte, key string) {
	c.key(key)
	c.out = append(c.out, bracket)
}

// key writes a key with its colon, and a comma before it if needed.
func (c *converter) key(key string) {
	c.comma()
	c.out = append(rawjson.AppendQuoted(c.out, key), ':')
}

func (c *converter) comma() {
	if n := len(c.out); n > 0 && c.out[n-1] != '{' && c.out[n-1] != '[' {
		c.out = append(c.out, ',')
	}
}

func (c *converter) close(bracket byte) { c.out = append(c.out, bracket) }

// words writes a text under a key, unless it is empty.
func (c *converter) words(key, text string) {
	if text == "" {
		return
	}
	c.key(key)
	c.out = rawjson.AppendQuoted(c.out, text)
}

func (c *converter) workflow(o *outline) {
	front := c.front(o.front)
	saved := func(key string) (p parameter, ok bool) {
		i := slices.IndexFunc(front, func(p parameter) bool { return p.name == key })
		if i < 0 {
			return p, false
		}
		c.value(front[i], true)
		return front[i], true
	}
	c.item()
	saved("ir_version")
	if _, ok := saved("description"); !ok {
		c.words("description", cmp.Or(strings.Join(o.prose.lines, "\n"), o.title))
	}
	for _, key := range toolKeys {
		saved(key)
	}
	c.declarations("inputs", inputsSection, o)
	steps := c.steps(o)
	_, start := saved("start_node")
	c.edges(steps, start)
	c.declarations("outputs", outputsSection, o)
	for _, key := range []string{"template_resolution_mode", "runtime", "budget", "runs_on", "created_at", "updated_at", "version"} {
		saved(key)
	}
	c.close('}')
}

// front reads the front matter. Keys that are not fields of a workflow belong to pflow's Python version and are ignored.
func (c *converter) front(p *piece) (fields []parameter) {
	if p == nil {
		return nil
	}
	n, errors := c.readYAML(*p, "the front matter")
	if n.Kind != yaml.Mapping && n.Kind != yaml.Null && len(errors) == 0 {
		c.addAt(n.At, "", "The front matter must be a mapping").Suggest("Write lines of the form key: value")
	}
	for _, e := range n.Entries {
		fields = append(fields, parameter{name: e.Key, at: e.At, value: e.Value, form: keyOfYAML})
	}
	return fields
}

// value writes a parameter. If text is set, a plain scalar that YAML reads as a number or a boolean is text as written.
func (c *converter) value(p parameter, text bool) {
	c.key(p.name)
	if p.json != "" {
		c.out = append(c.out, p.json...)
		return
	}
	if text {
		p.value = asText(p.value)
	}
	var errors []yaml.Error
	c.out, errors = p.value.AppendJSON(c.out)
	for _, e := range errors {
		c.addAt(e.At, "", "Invalid value of %q: %s", p.name, e.Message).Suggest("%s", e.Suggestion)
	}
}

// asText returns the node with plain scalars as text, also those in a list. Null stays null.
func asText(n yaml.Node) yaml.Node {
	if n.Kind == yaml.Plain && n.Text != "~" && strings.ToLower(n.Text) != "null" {
		n.Kind = yaml.Quoted
	}
	if n.Kind == yaml.List {
		n.Items = slices.Clone(n.Items)
		for i := range n.Items {
			n.Items[i] = asText(n.Items[i])
		}
	}
	return n
}

// declarations writes the inputs or the outputs.
func (c *converter) declarations(key string, s section, o *outline) {
	if len(o.entities[s]) == 0 {
		return
	}
	c.open('{', key)
	for _, e := range o.entities[s] {
		if c.full() {
			break
		}
		path := rawjson.JoinPath(key, e.id)
		c.open('{', e.id)
		parameters := c.parameters(e, s.noun())
		c.described(e, s.noun(), path, "description")
		text := []string{"type", "source"}
		for _, p := range parameters {
			if p.name == "type" && inputTypes[p.value.Text] == "string" { // the default has the type of the input
				text = append(text, "default")
			}
		}
		sourced := s == inputsSection
		for _, p := range parameters {
			if p.name == "description" {
				c.addAt(p.at, path, "The description of %s %q is the text below its heading", s.noun(), e.id).Suggest("Move it there, and remove this parameter")
				continue
			}
			sourced = sourced || p.name == "source"
			c.value(p, slices.Contains(text, p.name))
		}
		if e.broken && !sourced { // the source may be in the part that could not be read
			c.words("source", "?")
		}
		c.close('}')
	}
	c.close('}')
}

// described writes the description of an entity. A missing description is an error.
func (c *converter) described(e *entity, noun, path, key string) {
	description := e.prose.description()
	if description == "" && !e.broken {
		c.addAt(e.at, path, "%s %q has no description", strings.ToUpper(noun[:1])+noun[1:], e.id).Suggest("Write a sentence about it below its heading")
	}
	c.words(key, description)
}

// nodeFields lists the fields of a node that a step's parameters can set. All other parameters belong to its node type.
var nodeFields = []string{"batch", "loop", "retry", "timeout", "approval", "cache", "runs_on", "idempotent", "unsafe_templates"}

// steps writes the nodes, and returns the routes between them.
func (c *converter) steps(o *outline) []route {
	c.open('[', "nodes")
	var routes []route
	for i, e := range o.entities[stepsSection] {
		if c.full() {
			break
		}
		path := item("nodes", i)
		parameters := c.parameters(e, "step")
		r := route{id: e.id, at: e.at}
		var typ *parameter
		var fields, params []parameter
		for _, p := range parameters {
			switch {
			case p.name == "type":
				typ = &p
			case p.name == "next":
				r.next = &p
			case p.name == "on-error":
				r.onError = &p
			case p.name == "timeout" && !p.isMapping(), !slices.Contains(nodeFields, p.name):
				params = append(params, p)
			default:
				fields = append(fields, p)
			}
		}
		c.comma()
		from := len(c.out)
		c.out = append(c.out, '{')
		c.words("id", e.id)
		switch {
		case typ != nil:
			c.value(*typ, true)
		case !e.broken:
			c.addAt(e.at, path, "Step %q has no type", e.id).Suggest("Add - type: shell, or another node type")
			fallthrough
		default: // reported above, or the type may be in the part that could not be read
			c.words("type", "?")
		}
		c.described(e, "step", path, "purpose")
		if len(params) > 0 {
			c.open('{', "params")
			for _, p := range params {
				c.value(p, false)
			}
			c.close('}')
		}
		for _, p := range fields {
			p.value = withTexts(p.value)
			c.value(p, false)
		}
		c.close('}')
		r.code = nextIn(c.out[from:])
		r.open = r.code.Other >= 0 && r.next == nil || isReference(gjson.GetBytes(c.out[from:], "params.code").Str)
		routes = append(routes, r)
	}
	c.close(']')
	return routes
}

// nextIn returns what the code of a node in the JSON form assigns to next.
func nextIn(raw []byte) program.Next {
	n := Node{Type: gjson.GetBytes(raw, "type").Str, Params: json.RawMessage(gjson.GetBytes(raw, "params").Raw)}
	if gjson.GetBytes(raw, "batch").Exists() {
		n.Batch = &Batch{}
	}
	return NextOf(&n)
}

// withTexts returns the value of a node field with its text fields as text.
func withTexts(n yaml.Node) yaml.Node {
	n.Entries = slices.Clone(n.Entries)
	for i, e := range n.Entries {
		switch e.Key {
		case "as", "error_handling", "backoff", "question", "choices":
			n.Entries[i].Value = asText(e.Value)
		}
	}
	return n
}
