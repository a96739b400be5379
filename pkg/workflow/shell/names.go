package shell

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// doubt is a ${…} that begins with no known name, or that has an operator of the shell's: whether it is right depends on
// what the command sets.
type doubt struct {
	source   string
	variable string // the shell's variable that it would be
	root     string // the name that a template would begin with
	operator bool   // it is of the form ${name:-x}, and a template can begin with the name
	expr     *template.Expr
	from     uint
	offset   int
}

// question takes note of a ${…} that is not known to be a template, and gives the text for the shell.
func (d *draft) question(p template.Part, root string, from uint, offset int) string {
	t := doubt{source: p.Source, variable: shellName(p.Source[len("${"):]), root: root, expr: p.Expr, from: from, offset: offset}
	switch {
	case p.Bad:
		bare := strings.TrimLeft(p.Source[len("${"):], "#!")
		t.variable = shellName(bare)
		for _, name := range []string{templateName(bare), t.variable} {
			if name != "" && d.Known(name) {
				t.root, t.operator = name, true
				d.doubts = append(d.doubts, t)
				break
			}
		}
	case readable(p.Expr):
		if t.variable != root && d.Known(t.variable) {
			t.root, t.operator = t.variable, true
		}
		d.doubts = append(d.doubts, t)
	default:
		d.add(undefined(t))
		return "${_}"
	}
	return p.Source
}

// readable says whether a shell can read an expression: one of a name and, in bash, a subscript.
func readable(e *template.Expr) bool {
	ref, ok := e.Ref()
	return ok && !slices.ContainsFunc(ref.Path, func(s template.Step) bool { return !s.IsIndex && s.At == nil })
}

// shellName is the name of a shell variable that a text begins with.
func shellName(s string) string {
	n := 0
	for n < len(s) && (s[n] == '_' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return s[:n]
}

// templateName is the longest name of a template that a text begins with.
func templateName(s string) string {
	n := len(shellName(s))
	for n > 0 && n < len(s) && template.IsName(s[:n+1]) {
		n++
	}
	return s[:n]
}

// settle decides about the names that are in doubt, and drops the marks that stand in comments.
func (d *draft) settle(file *syntax.File) {
	var comments []stretch
	var texts []*inert
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Comment:
			comments = append(comments, stretch{n.Pos().Offset(), n.End().Offset()})
		case *syntax.SglQuoted:
			texts = append(texts, &inert{stretch: stretch{n.Pos().Offset(), n.End().Offset()}, text: n.Value})
		case *syntax.Redirect:
			d.ended(n)
			if n.Hdoc != nil && quotedWord(n.Word) {
				texts = append(texts, &inert{stretch: stretch{n.Hdoc.Pos().Offset(), n.Hdoc.End().Offset()}, text: n.Hdoc.Lit()})
			}
		}
		return true
	})
	slices.SortFunc(comments, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	commented := func(offset uint) bool {
		i, found := slices.BinarySearchFunc(comments, offset, func(s stretch, at uint) int { return cmp.Compare(s.from, at) })
		return found || i > 0 && comments[i-1].holds(offset)
	}
	if !d.Unsafe {
		d.marks = slices.DeleteFunc(d.marks, func(m mark) bool { return commented(m.from) })
		d.number()
	}
	set := map[string]bool{}
	for _, name := range append(assigned(file), d.Own...) {
		set[name] = true
	}
	for i, m := range d.marks {
		if ref, ok := m.expr.Ref(); ok && readable(&m.expr) && set[ref.Root] {
			d.blame(i, fmt.Sprintf("%s is both: a template, and a variable that the command or the node's env sets", m.expr),
				fmt.Sprintf("For the shell's variable write $%s; for the template give the variable another name", ref.Root))
		}
	}
	for _, t := range d.doubts {
		if !commented(t.from) {
			d.doubtful(t, set[t.variable] || slices.ContainsFunc(texts, func(text *inert) bool { return text.sets(t) }))
		}
	}
}

// ended blames a here-document whose quoted delimiter goes on where the parser takes it to end, as in 'EOF'#.
func (d *draft) ended(r *syntax.Redirect) {
	end := int(r.Word.End().Offset())
	if r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc || !quotedWord(r.Word) || d.Unsafe || end >= len(d.text) || strings.IndexByte(" \t\r\n;&|<>()`", d.text[end]) >= 0 {
		return
	}
	d.add(Problem{Offset: d.original(uint(end)), Message: "the delimiter of a here-document is not quoted as a whole", Suggest: "Put the whole of it in single quotes: <<'EOF'"})
}

// stretch is a piece of the text.
type stretch struct{ from, to uint }

func (s stretch) holds(offset uint) bool { return s.from <= offset && offset < s.to }

// inert is text that the shell hands on as it is, and that may be code.
type inert struct {
	stretch
	text   string
	parsed bool
	names  []string
}

// sets says whether a doubtful name stands in the text and the text, taken for a shell's code, sets it.
func (i *inert) sets(t doubt) bool {
	if !i.holds(t.from) {
		return false
	}
	if !i.parsed {
		i.parsed = true
		if file, err := parse(i.text, syntax.LangBash); err == nil {
			i.names = assigned(file)
		}
	}
	return slices.Contains(i.names, t.variable)
}

// doubtful judges a doubt, knowing whether the variable is the shell's.
func (d *draft) doubtful(t doubt, shells bool) {
	switch {
	case !shells && t.operator:
		other := "x"
		if t.variable == other {
			other = "y"
		}
		suggest := fmt.Sprintf("Set a variable of the shell and use that: %s=${%s}; … %s", other, t.root, strings.Replace(t.source, t.root, other, 1))
		if rest := t.source[len("${")+len(t.root):]; strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, ":-") {
			suggest = fmt.Sprintf("For another value where there is none write ${%s ?? %s}", t.root, quoted(rest))
		}
		d.add(Problem{Offset: t.offset, Message: fmt.Sprintf("%s is no template, though %s is the name of one: templates have no operators of the shell's", t.source, t.root),
			Suggest: fmt.Sprintf("%s; for the shell's own variable %s write $%s", suggest, t.variable, t.source)})
	case !shells:
		d.add(undefined(t))
	case t.expr != nil:
		t.expr.Refs(func(ref template.Ref, _ bool) {
			if d.Known(ref.Root) {
				d.add(Problem{Offset: t.offset, Message: fmt.Sprintf("%s stands in a subscript of the shell's variable %s, which bash evaluates as code", ref, t.variable),
					Suggest: fmt.Sprintf("First i=$((%s)), which accepts an integer only; then $${%s[i]}", ref, t.variable)})
			}
		})
	}
}

// quoted is what follows a shell's :- as a JSON text.
func quoted(operator string) string {
	word := strings.TrimLeft(operator, ":-")
	if !strings.HasSuffix(word, "}") {
		return `"…"`
	}
	b, err := json.Marshal(strings.Trim(strings.TrimSuffix(word, "}"), `"'`))
	if err != nil {
		return `"…"`
	}
	return string(b)
}

// guess decides about the names in doubt in a command that cannot be parsed.
func (d *draft) guess() {
	for _, t := range d.doubts {
		if !t.operator {
			d.doubtful(t, slices.Contains(d.Own, t.variable) || strings.Contains(d.text, t.variable+"="))
		}
	}
}

func undefined(t doubt) Problem {
	p := Problem{Name: t.root, Offset: t.offset,
		Message: fmt.Sprintf("%s not resolved: it is no input and no node, and the command does not set it", t.source)}
	switch {
	case !readable(t.expr):
		p.Suggest = fmt.Sprintf("For a literal %s write $%[1]s", t.source)
	case t.variable == t.root && !strings.Contains(t.source, "["):
		p.Suggest = fmt.Sprintf("For the shell's own variable write $%s, or $%s", t.root, t.source)
	default: // $a-b would be $a and text
		p.Suggest = fmt.Sprintf("For the shell's own variable %s write $%s", t.variable, t.source)
	}
	return p
}

// assigned lists the variables that a command sets.
func assigned(file *syntax.File) (names []string) {
	arithmetic := func(x syntax.ArithmExpr) {
		if w, ok := x.(*syntax.Word); ok {
			names = append(names, w.Lit())
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if name := assignedName(n); name != "" {
				names = append(names, name)
			}
		case *syntax.WordIter:
			names = append(names, n.Name.Value)
		case *syntax.ParamExp:
			if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				names = append(names, n.Param.Value)
			}
		case *syntax.BinaryArithm:
			if n.Op >= syntax.AddAssgn && n.Op <= syntax.ShrAssgn || n.Op == syntax.Assgn {
				arithmetic(n.X)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				arithmetic(n.X)
			}
		case *syntax.Redirect: // exec {fd}>file
			if n.N != nil {
				names = append(names, strings.Trim(n.N.Value, "{}"))
			}
		case *syntax.CallExpr:
			names = append(names, setByCall(n.Args)...)
		}
		return true
	})
	return names
}

// setByCall lists the variables that a built-in command sets by the names among its arguments. What else stands there,
// options and their arguments, does no harm among the names.
func setByCall(args []*syntax.Word) (names []string) {
	words := make([]string, len(args))
	for i, a := range args {
		words[i], _ = static(a)
	}
	if len(words) > 0 && (words[0] == "command" || words[0] == "builtin") {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	switch words[0] {
	case "read", "mapfile", "readarray":
		return append(words[1:], "REPLY", "MAPFILE")
	case "getopts":
		return append(words[1:], "OPTARG", "OPTIND")
	case "printf":
		if len(words) > 2 && words[1] == "-v" {
			return words[2:3]
		}
	case "export", "readonly", "local", "declare", "typeset":
		for _, w := range words[1:] {
			name, _, _ := strings.Cut(w, "=")
			names = append(names, name)
		}
	}
	return names
}
