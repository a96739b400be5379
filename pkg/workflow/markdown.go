package workflow

import "strings"

// outline is what stands where in a file of the Markdown form.
type outline struct {
	front *piece
	// titleAt is the offset of the title, or -1.
	title    string
	titleAt  int
	prose    prose
	entities [sections][]*entity
	// found is the offset of the first heading of each section, or -1.
	found [sections]int
}

// section is one of those that mean something.
type section int

const (
	inputsSection section = iota
	stepsSection
	outputsSection
	sections

	noSection     section = -1
	documentation section = -2
)

// noun is what an entity of a section is.
func (s section) noun() string { return [...]string{"input", "step", "output"}[s] }

// entity is an input, a step or an output: what stands under one heading.
type entity struct {
	id     string
	at     int
	prose  prose
	items  []piece
	blocks []block
	// broken says that a part of it could not be read, so that what is missing may be in there.
	broken bool
}

// piece is lines of the file, from the first byte to that after the last; indent spaces before each are no part of it.
type piece struct{ from, to, indent int }

// block is a fenced code block: the first word of its tag and the last, which names a parameter.
type block struct {
	piece
	at       int
	tag      string
	language string
	name     string
}

// prose is the text of an entity, with an empty line between paragraphs.
type prose struct {
	lines []string
	// open says that a paragraph goes on.
	open bool
	// before is how many lines stand before the first parameter, once there is one.
	before     int
	parameters bool
}

func (p *prose) add(line string) {
	if !p.open && len(p.lines) > 0 {
		p.lines = append(p.lines, "")
	}
	p.lines = append(p.lines, line)
	p.open = true
}

// parameter ends a paragraph with a parameter.
func (p *prose) parameter() {
	if p.open = false; !p.parameters {
		p.before, p.parameters = len(p.lines), true
	}
}

// description is the text before the parameters or, when there is none, that after them.
func (p *prose) description() string {
	lines := p.lines
	if p.before > 0 {
		lines = lines[:p.before]
	}
	return strings.Join(lines, "\n")
}
