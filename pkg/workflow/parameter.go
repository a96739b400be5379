package workflow

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/workflow/yaml"
)

// parameter is a key of an entity with its value: YAML, or the text or JSON of a code block. The text of a code block is a
// quoted YAML node.
type parameter struct {
	name  string
	at    int
	value yaml.Node
	json  string
	form  valueForm
	// piece holds the lines of a code block.
	piece piece
}

// valueForm is the form of a value in a file: YAML after its key, or a code block.
type valueForm int

const (
	keyOfYAML valueForm = iota
	blockOfYAML
	blockOfJSON
	blockOfText
)

// maxYAML bounds the bytes of YAML in one place: parsed, they can take two hundred times as much memory.
const maxYAML = 1 << 20

// readYAML parses a piece of YAML and reports its errors.
func (c *converter) readYAML(p piece, where string) (yaml.Node, []yaml.Error) {
	if p.to-p.from > maxYAML {
		return yaml.Node{At: p.from}, c.tooMuch(p, where)
	}
	n, errors := yaml.Parse(c.text.s, p.from, p.to, p.indent)
	for _, e := range errors {
		f := c.addAt(e.At, "", "YAML syntax error in %s: %s", where, e.Message)
		line, mark := c.text.show(e.At)
		f.Detail("text", line).Detail("mark", mark)
		if e.Suggestion != "" {
			f.Suggest("%s", e.Suggestion)
		}
	}
	return n, errors
}

// tooMuch reports more YAML than maxYAML.
func (c *converter) tooMuch(p piece, where string) []yaml.Error {
	c.addAt(p.from, "", "More than %d bytes of YAML in %s", maxYAML, where).Suggest("Write large data as JSON, in a block ```json name")
	return []yaml.Error{{At: p.from}}
}

// isMapping reports whether the value is a mapping or a JSON object.
func (p parameter) isMapping() bool {
	return p.value.Kind == yaml.Mapping || strings.HasPrefix(p.json, "{")
}

// parameters reads the parameters of an entity. It leaves out broken ones.
func (c *converter) parameters(e *entity, noun string) []parameter {
	var all []parameter
	index := map[string]int{}
	add := func(p parameter) {
		if i, twice := index[p.name]; twice {
			c.twice(all[i], p)
			return
		}
		index[p.name] = len(all)
		all = append(all, p)
	}
	bytes, where := 0, "the parameters of "+noun+" "+e.id
	for _, piece := range e.items {
		if bytes += piece.to - piece.from; bytes > maxYAML {
			c.tooMuch(piece, where)
			e.broken = true
		}
		if c.full() || bytes > maxYAML {
			break
		}
		n, errors := c.readYAML(piece, where)
		e.broken = e.broken || len(errors) > 0
		for _, item := range n.Items {
			if item.Kind != yaml.Mapping && len(errors) == 0 {
				c.notParameter(item)
				e.broken = true
			}
			for _, entry := range item.Entries {
				add(parameter{name: entry.Key, at: entry.At, value: entry.Value, form: keyOfYAML})
			}
		}
	}
	for _, b := range e.blocks {
		if c.full() {
			break
		}
		if p, ok := c.block(b); ok {
			add(p)
		} else {
			e.broken = true
		}
	}
	return all
}

// twice reports two parameters with the same name.
func (c *converter) twice(first, second parameter) {
	line, _ := c.text.place(first.at)
	format := "Duplicate parameter %q: line %d has it too"
	switch {
	case first.form != keyOfYAML:
		format = "Duplicate code block for %q: line %d has one too"
	case second.form != keyOfYAML:
		format = "Parameter %q is in a code block, and also inline on line %d"
	}
	c.addAt(second.at, "", format, second.name, line).Suggest("Keep one of them")
}

// notParameter reports a list item that is not a key with a value.
func (c *converter) notParameter(item yaml.Node) {
	f := c.addAt(item.At, "", "%q is not a parameter", shorten(item.Text))
	if key, _, colon := strings.Cut(item.Text, ":"); colon && isID(strings.ToLower(key)) {
		f.Suggest("Put a space after the colon")
		return
	}
	f.Suggest("Write - key: value; for a remark use * instead of -")
}

// block reads a code block. It returns false if the block is broken.
func (c *converter) block(b block) (p parameter, ok bool) {
	p = parameter{name: b.name, at: b.at, piece: b.piece, form: blockOfText}
	switch b.language {
	case "yaml", "yml":
		var errors []yaml.Error
		p.value, errors = c.readYAML(b.piece, "the code block "+b.tag)
		p.form = blockOfYAML
		return p, len(errors) == 0
	case "json":
		before := c.noted
		ok := c.scan(c.text.s[:b.to], b.from, b.name) && c.noted == before
		p.json, p.form = strings.TrimSpace(c.text.s[b.from:b.to]), blockOfJSON
		p.value.At = b.from + strings.Index(c.text.s[b.from:b.to], p.json)
		return p, ok
	}
	p.value = yaml.Node{Kind: yaml.Quoted, At: b.from, Text: b.text(c.text.s)}
	return p, true
}

// text returns the lines of a piece without the last line break.
func (p piece) text(source string) string {
	var b strings.Builder
	b.Grow(p.to - p.from)
	p.lines(source, func(at, stop int) bool {
		b.WriteString(source[at:stop])
		b.WriteByte('\n')
		return true
	})
	return strings.TrimSuffix(b.String(), "\n")
}

// lines visits the lines of a piece without their indent and line break, until visit returns false.
func (p piece) lines(source string, visit func(at, stop int) bool) {
	for at := p.from; at < p.to; {
		stop, next := lineEnd(source, at)
		for n := 0; n < p.indent && at < stop && source[at] == ' '; n++ {
			at++
		}
		if !visit(at, stop) {
			return
		}
		at = next
	}
}
