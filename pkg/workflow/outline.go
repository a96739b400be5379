package workflow

import (
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// outliner reads a file line by line. Headings, fenced blocks, comments and lists are told apart as in CommonMark, but
// that a list's item of the form "- key: value" is YAML to its end.
type outliner struct {
	d    *decoder
	text string
	// at is where the line begins, stop where its break does, next where the next line begins.
	at, stop, next int

	outline
	// names are those of each section, with the offsets where they stand.
	names   [sections]map[string]int
	section section
	entity  *entity
	// loose says that the line before was a parameter's, so that text here was surely meant to belong to it.
	loose bool
	// note says that a documentation bullet goes on: in the lines below it, and after a blank line (gap) in those that are
	// indented.
	note, gap bool
	// lost says that the rest of the file cannot be told apart.
	lost bool
}

// outline takes a file apart.
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

// line goes to the next line; false at the end.
func (o *outliner) line() bool {
	if o.next >= len(o.text) {
		return false
	}
	o.at = o.next
	o.stop, o.next = lineEnd(o.text, o.at)
	return true
}

// lineEnd is where the line that begins at an offset ends, before and after its break.
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

// rest is the line without the white space before and after it, and the column in which it begins.
func (o *outliner) rest() (rest string, column int) {
	line := o.text[o.at:o.stop]
	trimmed := strings.TrimLeft(line, " \t")
	return strings.TrimRight(trimmed, " \t"), len(line) - len(trimmed)
}

// fault notes what is wrong with the line.
func (o *outliner) fault(column int, suggestion, format string, args ...any) {
	f := o.d.addAt(o.at+column, "", format, args...)
	if suggestion != "" {
		f.Suggest("%s", suggestion)
	}
}

// frontMatter reads the YAML between the first line, which is ---, and the next one that is.
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

// read reads a line, and with it all that belongs to it.
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
	case note: // a bullet that goes on
		o.note = true
	default:
		o.words(rest, column, loose)
	}
}

// paragraphs is where prose belongs here.
func (o *outliner) paragraphs() *prose {
	switch {
	case o.entity != nil:
		return &o.entity.prose
	case o.section == noSection:
		return &o.prose
	}
	return &prose{}
}

// words reads a line of prose, after it is sure that it was not meant to be something else.
func (o *outliner) words(rest string, column int, loose bool) {
	inside := o.entity != nil || o.section == noSection
	hashes := len(rest) - len(strings.TrimLeft(rest, "#"))
	word := strings.TrimLeft(rest, "#-")
	switch {
	case o.section == documentation:
	case hashes >= 2 && hashes <= 6 && word != "" && isLetter(word[0]):
		o.fault(column, fmt.Sprintf("Put a space after the #: %s %s", rest[:hashes], word), "%q is no heading", shorten(rest))
	case o.entity != nil && rest[0] == '-' && isParameter(word):
		o.fault(column, "Put a space after the dash: - "+shorten(word), "%q is no parameter", shorten(rest))
		o.entity.broken = true
	case loose && inside && rest[0] != '>': // a quotation needs no blank line
		o.fault(column, "Indent it by two spaces more than the dash if it belongs to the parameter; if not, put a blank line before it", "%q stands below a parameter and is not indented", shorten(rest))
	default:
		o.paragraphs().add(rest)
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isParameter says whether a text begins with a key and a colon.
func isParameter(s string) bool {
	key, _, ok := strings.Cut(s, ":")
	return ok && isID(strings.ToLower(key))
}

// shorten is text as an error quotes it.
func shorten(s string) string { return fault.Truncate(s, 40) }

// item reads a parameter: the line with its dash, and the lines below that are indented more. A blank line ends it when
// its value is all there; a code block does too, but for lines that belong to text after | or >.
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

// heading begins a section or an entity.
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
		o.fault(column, "Write ### "+words, "The heading %q has %d #, where that of %s has three", words, level, a(o.section.noun()))
	}
}

// headline is the title, of which there is one.
func (o *outliner) headline(words string, at, column int) {
	if o.titleAt < 0 && o.section == noSection {
		o.title, o.titleAt = words, at
		return
	}
	f := "A second title"
	if o.titleAt < 0 {
		f = "A title below a section"
	}
	suggestion := "Write ## for a section and ### for a step; code that has lines with # stands in a fenced block"
	if _, known, _ := sectionOf(words); known {
		suggestion = "Write ## " + words
	}
	o.fault(column, suggestion, "%s: %q", f, shorten(words))
}

// begin begins a section. One that means nothing is documentation, but for those that were surely meant to.
func (o *outliner) begin(words string, column int) {
	s, known, meant := sectionOf(words)
	o.entity, o.section = nil, documentation
	switch {
	case known:
		if o.section = s; o.found[s] < 0 {
			o.found[s] = o.at
		}
	case meant != "":
		o.fault(column, meant, "Unknown section %q", words)
	}
}

// name begins an entity.
func (o *outliner) name(words string, at, column int) {
	o.entity = nil
	if o.section == noSection {
		o.fault(column, "Put it below ## Steps, ## Inputs or ## Outputs", "%q stands in no section", shorten(words))
		return
	}
	e := &entity{id: words, at: at}
	if o.entity = e; !isID(words) {
		suggestion := "Begin with a small letter, and go on with small letters, digits, - and _"
		if id := asID(words); id != "" {
			suggestion += ": " + id
		}
		o.fault(column, suggestion, "Invalid name of %s: %q", a(o.section.noun()), shorten(words))
	} else if o.section == stepsSection && words == endOfRoute {
		o.fault(column, "Give the step another name", "No step can have the name end: it is what - next: end says")
	}
	if first, ok := o.names[o.section][words]; ok {
		line, _ := o.d.text.place(first)
		o.fault(column, fmt.Sprintf("Give every %s a name of its own", o.section.noun()), "Duplicate %s %q: line %d has it too", o.section.noun(), words, line)
		return
	}
	o.names[o.section][words] = at
	o.entities[o.section] = append(o.entities[o.section], e)
}
