package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// VariablePrefix begins the names of the variables that carry values into a command.
const VariablePrefix = "PFLOW_T"

// draft is a command while it is worked on.
type draft struct {
	Options
	command string // as it was written
	text    string // with each template made a plain reference to its variable, and $${ made ${
	shifts  []shift
	marks   []mark
	index   map[string]int // the marks by their names
	doubts  []doubt

	problems []Problem
	said     map[Problem]bool
	edits    []edit
}

// mark is a template: its variable, and where the reference to it stands in the text.
type mark struct {
	name     string
	expr     template.Expr
	offset   int // in the command
	from, to uint
	place    place
	faulty   bool // an error was found
}

// shift says that from a place in the text on, what stands there stood elsewhere in the command.
type shift struct{ text, command int }

// edit replaces the bytes from…to of the text.
type edit struct {
	from, to uint
	text     string
}

// newDraft tells the templates from the rest.
func newDraft(command string, o Options) *draft {
	d := &draft{Options: o, command: command}
	var b strings.Builder
	offset, next := 0, 0
	taken := func(name string) bool { return strings.Contains(command, name) || slices.Contains(o.Own, name) }
	careful := taken(VariablePrefix) || len(o.Own) > 0
	d.shifts = []shift{{}}
	for _, p := range template.Parse(command) {
		switch root, isTemplate := rootOf(p.Expr); {
		case p.Expr == nil && !p.Bad:
			d.unescaped(p.Source, b.Len(), offset)
			b.WriteString(p.Text)
		case isTemplate && (root == "" || o.Known(root)):
			next++
			for careful && taken(variable(next)) {
				next++
			}
			name, from := variable(next), uint(b.Len())
			b.WriteString("${" + name + "}")
			d.marks = append(d.marks, mark{name: name, expr: *p.Expr, offset: offset, from: from, to: uint(b.Len())})
		default:
			b.WriteString(d.question(p, root, uint(b.Len()), offset))
		}
		offset += len(p.Source)
		d.shifts = append(d.shifts, shift{b.Len(), offset})
	}
	d.text = b.String()
	d.number()
	return d
}

// unescaped notes where the text and the command part: behind each $${, which is ${ in the text. It warns of \$${name},
// which is easily written for a $ before a template, as awk's columns want.
func (d *draft) unescaped(source string, at, offset int) {
	for i, escapes := 0, 0; ; {
		next := strings.Index(source[i:], "$${")
		if next < 0 {
			return
		}
		i += next + len("$${")
		escapes++
		d.shifts = append(d.shifts, shift{at + i - escapes, offset + i})
		if name := templateName(source[i:]); name != "" && d.Known(name) && strings.HasSuffix(source[:i], `\$${`) {
			d.add(Problem{Offset: offset + i - len("$${"), Warning: true, Message: fmt.Sprintf("$${%s} is the text ${%[1]s}, and no $ before a template", name),
				Suggest: fmt.Sprintf(`If a $ before the value is meant, hand the value over: awk -v n="${%s}" '… $n …'`, name)})
		}
	}
}

func variable(n int) string { return VariablePrefix + strconv.Itoa(n) }

// number notes which mark has which name.
func (d *draft) number() {
	d.index = make(map[string]int, len(d.marks))
	for i, m := range d.marks {
		d.index[m.name] = i
	}
}

// rootOf is the name that an expression's first reference begins with, if it has one.
func rootOf(e *template.Expr) (root string, ok bool) {
	if e == nil {
		return "", false
	}
	e.Refs(func(ref template.Ref, _ bool) {
		if root == "" {
			root = ref.Root
		}
	})
	return root, true
}

// original is the place in the command of a place in the text; within a mark, its end.
func (d *draft) original(offset uint) int {
	i, found := slices.BinarySearchFunc(d.shifts, int(offset), func(s shift, at int) int { return cmp.Compare(s.text, at) })
	if !found {
		i--
	}
	at, end := d.shifts[i].command+int(offset)-d.shifts[i].text, len(d.command)
	if i+1 < len(d.shifts) {
		end = d.shifts[i+1].command
	}
	return min(at, end)
}

// within lists the marks in a stretch of the text, by their index.
func (d *draft) within(from, to uint) (first, end int) {
	at := func(m mark, offset uint) int { return cmp.Compare(m.from, offset) }
	first, _ = slices.BinarySearchFunc(d.marks, from, at)
	end, _ = slices.BinarySearchFunc(d.marks, to, at)
	return first, end
}

// marked is the index of the mark that an expansion is.
func (d *draft) marked(p *syntax.ParamExp) (int, bool) {
	if p.Param == nil {
		return 0, false
	}
	i, ok := d.index[p.Param.Value]
	return i, ok
}

func (d *draft) add(p Problem) {
	if d.said == nil {
		d.said = map[Problem]bool{}
	}
	if !d.said[p] {
		d.said[p] = true
		d.problems = append(d.problems, p)
	}
}

// blame notes an error about a mark, or a template that is not in the command when i is none.
func (d *draft) blame(i int, message, suggest string) {
	if i < 0 {
		d.add(Problem{Message: message, Suggest: suggest, Offset: -1})
		return
	}
	d.marks[i].faulty = true
	d.add(Problem{Message: message, Suggest: suggest, Offset: d.marks[i].offset})
}

// warn notes what is worth a second look about a mark.
func (d *draft) warn(i int, message, suggest string) {
	if i < 0 {
		d.add(Problem{Message: message, Suggest: suggest, Offset: -1, Warning: true})
		return
	}
	d.add(Problem{Message: message, Suggest: suggest, Offset: d.marks[i].offset, Warning: true})
}

// unreadable notes that no shell could parse the command, at the place in the command as it was written.
func (d *draft) unreadable(err error) {
	at, what := d.syntaxError(err)
	before := d.command[:at]
	line := 1 + strings.Count(before, "\n")
	column := 1 + len(before) - (strings.LastIndexByte(before, '\n') + 1)
	d.add(Problem{Offset: at, Message: fmt.Sprintf("the command is no shell syntax: line %d, column %d: %s", line, column, what),
		Suggest: "Check its quotes and brackets; for a literal ${ write $${"})
}

// script is what became of the command.
func (d *draft) script() (*Script, []Problem) {
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	s := &Script{}
	for _, m := range d.marks {
		v := Var{Name: m.name, Expr: m.expr, Integer: m.place.role == arithmetic}
		if d.Unsafe {
			v.Name = ""
		}
		s.Vars = append(s.Vars, v)
	}
	if slices.ContainsFunc(d.problems, func(p Problem) bool { return !p.Warning }) {
		return s, d.problems
	}
	s.Command = d.edited()
	if d.Unsafe && len(d.marks) > 0 {
		s.Command = d.command
		at := uint(0)
		for _, m := range d.marks {
			s.pieces = append(s.pieces, d.text[at:m.from])
			at = m.to
		}
		s.pieces = append(s.pieces, d.text[at:])
	}
	return s, d.problems
}

// edited is the text with all edits made.
func (d *draft) edited() string {
	slices.SortFunc(d.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	at := uint(0)
	for _, e := range d.edits {
		b.WriteString(d.text[at:e.from] + e.text)
		at = e.to
	}
	b.WriteString(d.text[at:])
	return b.String()
}
