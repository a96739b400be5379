package workflow

import "strings"

// outline holds the parts of a Markdown file with their places.
type outline struct {
	front *piece
	// titleAt is the offset of the title, or -1.
	title    string
	titleAt  int
	prose    prose
	entities [sections][]*entity
	// found holds the offset of the first heading of each section, or -1.
	found [sections]int
}

// section is a section of a Markdown file. Sections without a meaning are documentation.
type section int

const (
	inputsSection section = iota
	stepsSection
	outputsSection
	sections

	noSection     section = -1
	documentation section = -2
)

// noun names an entity of a section.
func (s section) noun() string { return [...]string{"input", "step", "output"}[s] }

// entity is an input, a step or an output: the part of a file below one heading.
type entity struct {
	id     string
	at     int
	prose  prose
	items  []piece
	blocks []block
	// broken reports whether a part could not be read. A missing parameter may be in that part.
	broken bool
}

// piece is a range of lines of a file, without the first indent spaces of each line.
type piece struct{ from, to, indent int }

// block is a fenced code block. The first word of its tag is the language, and the last is the name of a parameter.
type block struct {
	piece
	at       int
	tag      string
	language string
	name     string
}

// prose is the text of an entity. An empty line separates paragraphs.
type prose struct {
	lines []string
	// open reports whether the next line continues the paragraph.
	open bool
	// parameters reports whether a parameter followed, and before counts the lines before the first one.
	before     int
	parameters bool
}

// add appends a line.
func (p *prose) add(line string) {
	if !p.open && len(p.lines) > 0 {
		p.lines = append(p.lines, "")
	}
	p.lines = append(p.lines, line)
	p.open = true
}

// parameter ends the paragraph because a parameter follows.
func (p *prose) parameter() {
	if p.open = false; !p.parameters {
		p.before, p.parameters = len(p.lines), true
	}
}

// description returns the text before the parameters, or the text after them if no text comes before.
func (p *prose) description() string {
	lines := p.lines
	if p.before > 0 {
		lines = lines[:p.before]
	}
	return strings.Join(lines, "\n")
}
