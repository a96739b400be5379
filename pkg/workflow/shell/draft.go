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

// VariablePrefix is the prefix of the names of the variables that hold the values of templates.
const VariablePrefix = "PFLOW_T"

// draft is a command while Parse works on it.
type draft struct {
	Options
	command string // as written
	text    string // with each template replaced by a plain reference to its variable, and $${ by ${
	shifts  []shift
	marks   []mark
	index   map[string]int // of marks, by their names
	unclear []unclear

	dollars    []dollar
	attributes map[string]string // the options of declare by the names of variables
	bash       bool              // only bash reads the command as it is meant

	guard *guard
	code  bool // it is the code of a node, without templates

	problems []Problem
	reported map[Problem]bool
	edits    []edit
}

// mark is a template, with its variable and the position of the reference in the text.
type mark struct {
	name     string
	expr     template.Expr
	offset   int // in the command
	from, to uint
	place    place
	number   bool // its value is a number, true or false
	ticked   bool // it is in backticks
	literal  bool // the shell does not expand it, and it becomes its own source
	faulty   bool // an error was reported
}

// dollar is a $${name} whose name is that of a template. It is ${name} for the shell, perhaps meant as a $ before the value.
type dollar struct {
	name   string
	source string // from ${ to }
	from   uint
	offset int // in the command
}

// shift maps an offset in the text to the corresponding offset in the command.
type shift struct{ text, command int }

// edit replaces the bytes from…to of the text.
type edit struct {
	from, to uint
	text     string
}

// newDraft splits a command into templates, unclear names and the rest.
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
			d.marks = append(d.marks, mark{name: name, expr: *p.Expr, offset: offset, from: from, to: uint(b.Len()), number: o.Number != nil && o.Number(*p.Expr)})
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

// unescaped records the shift after each $${, which is ${ in the text, and those with the names of templates.
func (d *draft) unescaped(source string, at, offset int) {
	for i, escapes := 0, 0; ; {
		next := strings.Index(source[i:], "$${")
		if next < 0 {
			return
		}
		i += next + len("$${")
		escapes++
		d.shifts = append(d.shifts, shift{at + i - escapes, offset + i})
		if name := templateName(source[i:]); name != "" && d.Known(name) {
			expr, _, _ := strings.Cut(source[i:], "}")
			d.dollars = append(d.dollars, dollar{name, "${" + expr + "}", uint(at + i - escapes - len("${")), offset + i - len("$${")})
		}
	}
}

func variable(n int) string { return VariablePrefix + strconv.Itoa(n) }

// number rebuilds the index of the marks.
func (d *draft) number() {
	d.index = make(map[string]int, len(d.marks))
	for i, m := range d.marks {
		d.index[m.name] = i
	}
}

// rootOf returns the root name of an expression's first reference, or "" if it has no reference.
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

// original returns the offset in the command for an offset in the text; inside a mark, the end of its template.
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

// within returns the range of the marks between two offsets of the text.
func (d *draft) within(from, to uint) (first, end int) {
	at := func(m mark, offset uint) int { return cmp.Compare(m.from, offset) }
	first, _ = slices.BinarySearchFunc(d.marks, from, at)
	end, _ = slices.BinarySearchFunc(d.marks, to, at)
	return first, end
}

// marked returns the index of the mark that an expansion refers to.
func (d *draft) marked(p *syntax.ParamExp) (int, bool) {
	if p.Param == nil {
		return 0, false
	}
	i, ok := d.index[p.Param.Value]
	return i, ok
}

func (d *draft) add(p Problem) {
	if d.reported == nil {
		d.reported = map[Problem]bool{}
	}
	if !d.reported[p] {
		d.reported[p] = true
		d.problems = append(d.problems, p)
	}
}

// blame reports an error about a mark.
func (d *draft) blame(m *mark, kind Kind, message, suggest string) {
	m.faulty = true
	d.add(Problem{Kind: kind, Message: message, Suggest: suggest, Offset: m.offset})
}

// caution reports a warning about a mark.
func (d *draft) caution(m *mark, kind Kind, message, suggest string) {
	d.add(Problem{Kind: kind, Message: message, Suggest: suggest, Offset: m.offset, Warning: true})
}

// unreadable reports that no shell can parse the command.
func (d *draft) unreadable(err error) {
	at, what := d.syntaxError(err)
	before := d.command[:at]
	line := 1 + strings.Count(before, "\n")
	column := 1 + len(before) - (strings.LastIndexByte(before, '\n') + 1)
	d.add(Problem{Kind: Syntax, Offset: at, Message: fmt.Sprintf("the command is not valid shell syntax: line %d, column %d: %s", line, column, what),
		Suggest: "Check the quotes and brackets; for a literal ${ write $${"})
	if len(d.dollars) > 0 {
		d.problems[len(d.problems)-1].Suggest = d.dollars[0].cure()
	}
}

// script returns the result: the script and its problems.
func (d *draft) script() (*Script, []Problem) {
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	s := &Script{guard: d.guard, Bash: d.bash, Whole: !d.Unsafe && d.whole()}
	for _, m := range d.marks {
		if m.literal {
			continue
		}
		v := Var{Name: m.name, Expr: m.expr, Integer: m.place.role == arithmetic && !d.Unsafe}
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

// edited returns the text with all edits applied.
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
