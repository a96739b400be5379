package workflow

import (
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// outliner reads a file line by line. It recognizes headings, fenced blocks, comments and lists as CommonMark does, except that
// a list item of the form "- key: value" is YAML.
type outliner struct {
	d    *decoder
	text string
	// at is the offset of the line, stop that of its line break, and next that of the next line.
	at, stop, next int

	outline
	// names holds the names in each section with their offsets.
	names   [sections]map[string]int
	section section
	entity  *entity
	// loose reports whether the previous line belongs to a parameter, so that text in this line surely should too.
	loose bool
	// note reports whether a documentation bullet continues: in the next line, or in an indented line after a blank one (gap).
	note, gap bool
	// told has the sections in which content without a heading was reported.
	told [sections]bool
	// lost reports whether the rest of the file cannot be interpreted.
	lost bool
}

// outline reads the outline of a file.
func (d *decoder) outline() *outliner {
	o := &outliner{d: d, text: d.text.s, section: noSection, outline: outline{titleAt: -1, found: [sections]int{-1, -1, -1}}}
	for i := range o.names {
		o.names[i] = map[string]int{}
	}
	if o.line() && strings.TrimRight(o.text[o.at:o.stop], " \t") == "---" {
		o.frontMatter()
	} else {
		o.next = 0
	}
	for !o.lost && o.line() {
		o.read()
		o.lost = o.lost || d.full()
	}
	return o
}

// line moves to the next line. It returns false at the end of the file.
func (o *outliner) line() bool {
	if o.next >= len(o.text) {
		return false
	}
	o.at = o.next
	o.stop, o.next = lineEnd(o.text, o.at)
	return true
}

// lineEnd returns the end of the line at an offset, before and after its line break.
func lineEnd(text string, at int) (stop, next int) {
	i := strings.IndexByte(text[at:], '\n')
	if i < 0 {
		return len(text), len(text)
	}
	if i > 0 && text[at+i-1] == '\r' {
		return at + i - 1, at + i + 1
	}
	return at + i, at + i + 1
}

// rest returns the line without the white space around it, and the column in which it starts.
func (o *outliner) rest() (rest string, column int) {
	line := o.text[o.at:o.stop]
	trimmed := strings.TrimLeft(line, " \t")
	return strings.TrimRight(trimmed, " \t"), len(line) - len(trimmed)
}

// fault reports a fault in the line.
func (o *outliner) fault(column int, suggestion, format string, args ...any) {
	f := o.d.addAt(o.at+column, "", format, args...)
	if suggestion != "" {
		f.Suggest("%s", suggestion)
	}
}

// frontMatter reads the YAML between the --- in the first line and the next ---.
func (o *outliner) frontMatter() {
	open, from := o.at, o.next
	for o.line() {
		if strings.TrimRight(o.text[o.at:o.stop], " \t") == "---" {
			o.front = &piece{from, o.at, 0}
			return
		}
	}
	o.at = open
	o.fault(0, "Close it with a line ---", "The front matter is never closed")
	o.lost = true
}

// read reads a line with all lines that belong to it.
func (o *outliner) read() {
	rest, column := o.rest()
	loose, note := o.loose, o.note && (!o.gap || column >= 2)
	o.loose, o.note, o.gap = false, o.note && rest == "", rest == ""
	fence := fenceOf(rest)
	level := headingLevel(rest)
	switch {
	case fence != "":
		o.fenced(rest, column, fence)
	case strings.HasPrefix(rest, "<!--"):
		o.comment(column)
	case rest == "":
		o.paragraphs().open = false
	case level > 0 && column < 4:
		o.heading(rest, column, level)
	case isRule(rest):
		o.paragraphs().open = false
	case rest[0] == '*' && len(rest) > 1 && isSpace(rest[1]), rest[0] == '+' && len(rest) > 1 && isSpace(rest[1]):
		o.paragraphs().open, o.note = false, true
	case o.entity != nil && rest[0] == '-' && (len(rest) == 1 || isSpace(rest[1])):
		o.item(column)
	case o.headless() && rest[0] == '-' && len(rest) > 1 && isSpace(rest[1]) && isParameter(strings.TrimLeft(rest[1:], " \t")):
		o.nameless(column)
	case note: // a bullet continues
		o.note = true
	default:
		o.words(rest, column, loose)
	}
}

// paragraphs returns the prose that text in this line belongs to.
func (o *outliner) paragraphs() *prose {
	switch {
	case o.entity != nil:
		return &o.entity.prose
	case o.section == noSection:
		return &o.prose
	}
	return &prose{}
}

// headless reports whether the line is in a section whose content stands below headings, and before the first of them.
func (o *outliner) headless() bool {
	return o.entity == nil && o.section != noSection && o.section != documentation
}

// nameless reports a field, or a block of fields, that no heading names. The first of a section stands for all.
func (o *outliner) nameless(column int) {
	if o.told[o.section] {
		return
	}
	o.told[o.section] = true
	noun, name := o.section.noun(), map[section]string{inputsSection: "name", stepsSection: "fetch", outputsSection: "result"}[o.section]
	o.fault(column, fmt.Sprintf("Put it below a heading with the name of the %s, such as ### %s", noun, name), "No heading says of which %s this is", noun)
}

// words reads a line of prose. It reports a line that was surely meant as something else.
func (o *outliner) words(rest string, column int, loose bool) {
	inside := o.entity != nil || o.section == noSection
	hashes := len(rest) - len(strings.TrimLeft(rest, "#"))
	word := strings.TrimLeft(rest, "#-")
	switch {
	case o.section == documentation:
	case hashes >= 2 && hashes <= 6 && word != "" && isLetter(word[0]):
		o.fault(column, fmt.Sprintf("Put a space after the #: %s %s", rest[:hashes], word), "%q is not a heading", shorten(rest))
	case o.entity != nil && rest[0] == '-' && isParameter(word):
		o.fault(column, "Put a space after the dash: - "+shorten(word), "%q is not a parameter", shorten(rest))
		o.entity.broken = true
	case loose && inside && rest[0] != '>': // a quotation needs no blank line
		o.fault(column, "Indent it two spaces more than the dash if it belongs to the parameter; if not, put a blank line before it", "%q follows a parameter but is not indented", shorten(rest))
	default:
		o.paragraphs().add(rest)
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isParameter reports whether a text starts with a key and a colon.
func isParameter(s string) bool {
	key, _, ok := strings.Cut(s, ":")
	return ok && isID(strings.ToLower(key))
}

// shorten shortens text for an error.
func shorten(s string) string { return fault.Truncate(s, 40) }

// item reads a parameter: the line with its dash, and the lines below that are indented more. A blank line ends it if its value
// is complete. A code block ends it too, except inside the text after | or >.
func (o *outliner) item(column int) {
	o.entity.prose.parameter()
	p := piece{from: o.at, to: o.next}
	rest, _ := o.rest()
	complete, gap, text := hasValue(rest), false, opened(rest, column)
	for o.line() {
		rest, at := o.rest()
		if rest == "" {
			gap = true
			continue
		}
		if inText := text.takes(at); !inText {
			if at < column+2 || gap && complete || fenceOf(rest) != "" {
				break
			}
			text = opened(rest, at)
		}
		p.to, complete, gap = o.next, false, false
	}
	o.next, o.loose = p.to, true
	o.entity.items = append(o.entity.items, p)
}

// heading starts a section or an entity.
func (o *outliner) heading(rest string, column, level int) {
	at := o.at + column + level
	words := strings.TrimLeft(rest[level:], " \t")
	at += len(rest) - level - len(words)
	if closed := strings.TrimRight(words, "#"); closed == "" || isSpace(closed[len(closed)-1]) {
		words = strings.TrimRight(closed, " \t")
	}
	o.paragraphs().open = false
	switch {
	case level == 1:
		o.headline(words, at, column)
	case level == 2:
		o.begin(words, column)
	case o.section == documentation:
	case level == 3:
		o.name(words, at, column)
	case o.entity != nil && isID(words):
		o.fault(column, "Write ### "+words, "The heading %q has %d #, but the heading of %s has three", words, level, a(o.section.noun()))
	}
}

// headline reads the title. A second one is a fault.
func (o *outliner) headline(words string, at, column int) {
	if o.titleAt < 0 && o.section == noSection {
		o.title, o.titleAt = words, at
		return
	}
	f := "A second title"
	if o.titleAt < 0 {
		f = "A title below a section"
	}
	suggestion := "Write ## for a section and ### for a step; put code with # lines into a fenced block"
	if _, known, _ := sectionOf(words); known {
		suggestion = "Write ## " + words
	}
	o.fault(column, suggestion, "%s: %q", f, shorten(words))
}

// begin starts a section. An unknown section is documentation, or a fault if it was surely meant as a known one.
func (o *outliner) begin(words string, column int) {
	s, known, meant := sectionOf(words)
	o.entity, o.section = nil, documentation
	switch {
	case known:
		if o.section = s; o.found[s] < 0 {
			o.found[s] = o.at
			break
		}
		line, _ := o.d.text.place(o.found[s])
		o.fault(column, "Move its content there", "There is a section %q already, in line %d", words, line)
	case meant != "":
		o.fault(column, meant, "Unknown section %q", words)
	}
}

// name starts an entity.
func (o *outliner) name(words string, at, column int) {
	o.entity = nil
	if o.section == noSection {
		o.fault(column, "Move it below ## Steps, ## Inputs or ## Outputs", "%q is not in a section", shorten(words))
		return
	}
	e := &entity{id: words, at: at}
	if o.entity = e; !isID(words) {
		suggestion := "Start with a lower-case letter, then use lower-case letters, digits, - and _"
		if id := asID(words); id != "" {
			suggestion += ": " + id
		}
		o.fault(column, suggestion, "Invalid name of %s: %q", a(o.section.noun()), shorten(words))
	} else if o.section == stepsSection && words == EndOfBranch {
		o.fault(column, "Give the step another name", "A step cannot have the name end, because - next: end means that no step follows")
	}
	if first, ok := o.names[o.section][words]; ok {
		line, _ := o.d.text.place(first)
		o.fault(column, fmt.Sprintf("Give each %s its own name", o.section.noun()), "Duplicate %s %q: line %d has it too", o.section.noun(), words, line)
		return
	}
	o.names[o.section][words] = at
	o.entities[o.section] = append(o.entities[o.section], e)
}
