package workflow

import (
	"slices"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/workflow/yaml"
)

// markdownPlaces finds the places of a Markdown file by their paths in the JSON form. It parses the parameters of an entity
// again when a place inside it is needed.
type markdownPlaces struct {
	text    *text
	outline *outline
	edges   []edgePlace

	mu sync.Mutex
	// ids maps the names of inputs and outputs to their entities. It is filled on first use.
	ids [sections]map[string]*entity
	// read is the entity that was parsed last, with its parameters. blocks holds the places in JSON code blocks by offset.
	read       *entity
	parameters []parameter
	blocks     map[int]*jsonPlaces
}

// edgePlace holds the offsets of the names of an edge's steps.
type edgePlace struct{ from, to int }

func (p *markdownPlaces) of(steps []pathStep) (at int, value content, whole bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(steps) == 0 {
		return 0, content{}, true
	}
	switch rest := steps[1:]; steps[0].key {
	case "inputs":
		return p.section(inputsSection, rest)
	case "nodes":
		return p.section(stepsSection, rest)
	case "outputs":
		return p.section(outputsSection, rest)
	case "edges":
		return p.edge(rest)
	case "description":
		at, value, whole = p.front(steps)
		if at > 0 {
			return at, value, whole
		}
		at = max(p.outline.titleAt, 0)
		return at, content{at: at}, len(rest) == 0
	}
	return p.front(steps)
}

// front finds a place in the front matter.
func (p *markdownPlaces) front(steps []pathStep) (at int, value content, whole bool) {
	return p.among((&converter{decoder: &decoder{text: p.text}}).front(p.outline.front), steps, 0)
}

func (p *markdownPlaces) edge(steps []pathStep) (at int, value content, whole bool) {
	if len(steps) == 0 || steps[0].index >= len(p.edges) {
		at = max(p.outline.found[stepsSection], 0)
		return at, content{at: at}, len(steps) == 0
	}
	e := p.edges[steps[0].index]
	if at = e.to; len(steps) > 1 && steps[1].key == "from" {
		at = e.from
	}
	return at, content{at: at}, len(steps) < 3
}

func (p *markdownPlaces) section(s section, steps []pathStep) (at int, value content, whole bool) {
	at = max(p.outline.found[s], 0)
	if len(steps) == 0 {
		return at, content{at: at}, true
	}
	e := p.entity(s, steps[0])
	if e == nil {
		return at, content{at: at}, false
	}
	steps = steps[1:]
	if s == stepsSection && len(steps) > 0 && steps[0].key == "params" {
		steps = steps[1:]
	}
	if len(steps) == 0 {
		return e.at, content{at: e.at}, true
	}
	if p.read != e {
		p.read, p.parameters = e, (&converter{decoder: &decoder{text: p.text}}).parameters(e, s.noun())
	}
	return p.among(p.parameters, steps, e.at)
}

func (p *markdownPlaces) entity(s section, step pathStep) *entity {
	all := p.outline.entities[s]
	if s == stepsSection {
		if step.index >= len(all) {
			return nil
		}
		return all[step.index]
	}
	if p.ids[s] == nil {
		p.ids[s] = make(map[string]*entity, len(all))
		for _, e := range all {
			p.ids[s][e.id] = e
		}
	}
	return p.ids[s][step.key]
}

// among finds a place in one of the given parameters. If none has the name, the place is otherwise.
func (p *markdownPlaces) among(all []parameter, steps []pathStep, otherwise int) (at int, value content, whole bool) {
	i := slices.IndexFunc(all, func(q parameter) bool { return q.name == steps[0].key })
	if i < 0 {
		return otherwise, content{at: otherwise}, false
	}
	q, rest := all[i], steps[1:]
	switch q.form {
	case blockOfJSON:
		return p.block(q.value.At).within(q.at, rest)
	case blockOfText:
		return q.at, content{q.value.At, func(offset int) (int, bool) { return q.piece.trace(p.text.s, offset) }}, len(rest) == 0
	}
	return placeInYAML(p.text.s, q.at, q.value, rest)
}

// placeInYAML finds a place in a YAML value whose key is at the given offset of the source.
func placeInYAML(source string, at int, n yaml.Node, steps []pathStep) (int, content, bool) {
	for _, step := range steps {
		if step.list && n.Kind == yaml.List && step.index < len(n.Items) {
			n = n.Items[step.index]
			at = n.At
			continue
		}
		e, ok := n.Get(step.key)
		if step.list || !ok {
			return at, content{at: n.At}, false
		}
		at, n = e.At, e.Value
	}
	return at, content{n.At, func(offset int) (int, bool) { return traceYAML(source, n, offset) }}, true
}

// block returns the places in the JSON code block at an offset.
func (p *markdownPlaces) block(at int) *jsonPlaces {
	if p.blocks == nil {
		p.blocks = map[int]*jsonPlaces{}
	}
	if p.blocks[at] == nil {
		p.blocks[at] = &jsonPlaces{text: p.text.s, root: at}
	}
	return p.blocks[at]
}

// within is of for a JSON text whose key is at another place.
func (p *jsonPlaces) within(key int, steps []pathStep) (at int, value content, whole bool) {
	at, value, whole = p.of(steps)
	if at == p.root {
		at = key
	}
	return at, value, whole
}

// trace returns the offset in the file of a byte of a code block's text.
func (p piece) trace(source string, offset int) (at int, ok bool) {
	p.lines(source, func(from, stop int) bool {
		if offset <= stop-from {
			at, ok = from+offset, true
			return false
		}
		offset -= stop - from + 1
		return true
	})
	return at, ok
}

// traceYAML returns the offset in the file of a byte of a scalar's text; ok is false where the text is not in the file as it
// is, as after an escape sequence.
func traceYAML(source string, n yaml.Node, offset int) (at int, ok bool) {
	if offset > len(n.Text) {
		return n.At, false
	}
	_, below := lineEnd(source, n.At)
	switch n.Kind {
	case yaml.Quoted:
		return traceFolded(source, n.At+1, n.Text, 0, offset)
	case yaml.Plain:
		return traceFolded(source, n.At, n.Text, 0, offset)
	case yaml.Folded:
		return traceFolded(source, firstWord(source, below), n.Text, firstWord(n.Text, 0), offset)
	case yaml.Literal:
		return traceLiteral(source, below, n.Text, offset)
	}
	return n.At, false
}

// traceLiteral is traceYAML for text after |, whose first line starts at the given offset. Each line of the text is the end
// of a line of the file.
func traceLiteral(source string, from int, text string, offset int) (at int, ok bool) {
	for line := range strings.SplitSeq(text, "\n") {
		stop, next := lineEnd(source, from)
		if !strings.HasSuffix(source[from:stop], line) {
			return from, false
		}
		if offset <= len(line) {
			return stop - len(line) + offset, true
		}
		offset -= len(line) + 1
		from = next
	}
	return from, false
}

// traceFolded is traceYAML for text whose line breaks may have become spaces. The text from the byte done on starts at the
// given offset of the file. The spaces that a line break became have no place.
func traceFolded(source string, from int, text string, done, offset int) (at int, ok bool) {
	for offset >= done {
		stop, next := lineEnd(source, from)
		same := 0
		for from+same < stop && done+same < len(text) && source[from+same] == text[done+same] {
			same++
		}
		escape := strings.Trim(source[from+same:stop], " \t") != ""
		atEnd := offset == len(text) || firstWord(text, offset) > offset // and not the start of the next line
		if offset < done+same || offset == done+same && (escape || atEnd) {
			return from + offset - done, true
		}
		if escape || next == len(source) {
			return from, false
		}
		from, done = firstWord(source, next), firstWord(text, done+same)
	}
	return from, false
}

// firstWord returns the offset of the first byte of text, from an offset on, that is not white space.
func firstWord(text string, from int) int {
	return len(text) - len(strings.TrimLeft(text[from:], " \t\r\n"))
}
