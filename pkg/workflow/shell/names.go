package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// unclear is a ${…} that does not begin with a known name, or that has a shell operator. It is valid if the command sets
// the variable.
type unclear struct {
	source   string
	variable string // its name as a shell variable
	root     string // its root name as a template
	operator bool   // it has the form ${name:-x}, and a template may begin with the name
	expr     *template.Expr
	from     uint
	offset   int
}

// question records a ${…} that may not be a template and returns the text for the shell.
func (d *draft) question(p template.Part, root string, from uint, offset int) string {
	t := unclear{source: p.Source, variable: shellName(p.Source[len("${"):]), root: root, expr: p.Expr, from: from, offset: offset}
	switch {
	case p.Bad:
		bare := strings.TrimLeft(p.Source[len("${"):], "#!")
		t.variable = shellName(bare)
		for _, name := range []string{templateName(bare), t.variable} {
			if name != "" && d.Known(name) {
				t.root, t.operator = name, true
				d.unclear = append(d.unclear, t)
				break
			}
		}
	case readable(p.Expr):
		if t.variable != root && d.Known(t.variable) {
			t.root, t.operator = t.variable, true
		}
		d.unclear = append(d.unclear, t)
	default:
		d.add(undefined(t))
		return "${_}"
	}
	return p.Source
}

// readable reports whether a shell can parse an expression: a name and, in bash, subscripts.
func readable(e *template.Expr) bool {
	ref, ok := e.Ref()
	return ok && !slices.ContainsFunc(ref.Path, func(s template.Step) bool { return !s.IsIndex && s.At == nil })
}

// shellName returns the longest prefix of a text that is the name of a shell variable.
func shellName(s string) string {
	n := 0
	for n < len(s) && (s[n] == '_' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return s[:n]
}

// templateName returns the longest prefix of a text that is the root name of a template.
func templateName(s string) string {
	n := len(shellName(s))
	for n > 0 && n < len(s) && template.IsName(s[:n+1]) {
		n++
	}
	return s[:n]
}

// settle decides about the unclear names and drops the marks in comments.
func (d *draft) settle(file *syntax.File) {
	var comments []stretch
	var texts []*inert
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Comment:
			comments = append(comments, stretch{n.Pos().Offset(), n.End().Offset()})
		case *syntax.DeclClause:
			d.declared(n)
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
			d.blame(&d.marks[i], Ambiguous, fmt.Sprintf("%s is both a template and a variable that the command or the node's env sets", m.expr),
				fmt.Sprintf("For the shell variable write $%s; for the template, rename the variable", ref.Root))
		}
	}
	for _, m := range d.dollars {
		inText := slices.ContainsFunc(texts, func(text *inert) bool { return text.holds(m.from) })
		if escaped := m.from > 0 && d.text[m.from-1] == '\\'; !d.Unsafe && !commented(m.from) && (escaped || !inText && !set[shellName(m.name)]) {
			d.add(Problem{Kind: Literal, Offset: m.offset, Warning: true, Message: fmt.Sprintf("$%s is %[1]s for the shell, not a $ before the value", m.source), Suggest: m.cure()})
		}
	}
	for _, t := range d.unclear {
		if !commented(t.from) {
			d.judge(t, set[t.variable] || slices.ContainsFunc(texts, func(text *inert) bool { return text.sets(t) }))
		}
	}
}

// ended reports a here-document whose delimiter does not end where the parser assumes, as in 'EOF'#.
func (d *draft) ended(r *syntax.Redirect) {
	end := int(r.Word.End().Offset())
	if r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc || !quotedWord(r.Word) || d.Unsafe || end >= len(d.text) || strings.IndexByte(" \t\r\n;&|<>()`", d.text[end]) >= 0 {
		return
	}
	d.add(Problem{Kind: Syntax, Offset: d.original(uint(end)), Message: "only a part of a here-document's delimiter is quoted", Suggest: "Put all of it in single quotes: <<'EOF'"})
}

func (m dollar) cure() string {
	return fmt.Sprintf(`For a $ before the value, close and open the quotes between them: "$""%s"; in awk pass the value: awk -v n="%[1]s" '… $n …'`, m.source)
}

// stretch is a range of offsets in the text.
type stretch struct{ from, to uint }

func (s stretch) holds(offset uint) bool { return s.from <= offset && offset < s.to }

// inert is text that the shell does not expand and that may be code for another shell.
type inert struct {
	stretch
	text   string
	parsed bool
	names  []string
}

// sets reports whether the text contains an unclear name and, read as shell code, sets the variable.
func (i *inert) sets(t unclear) bool {
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

// judge reports what is wrong with an unclear name. set reports whether the command sets the variable.
func (d *draft) judge(t unclear, set bool) {
	switch {
	case !set && t.operator:
		other := "x"
		if t.variable == other {
			other = "y"
		}
		suggest := fmt.Sprintf("Set a shell variable and use that: %s=${%s}; … %s", other, t.root, strings.Replace(t.source, t.root, other, 1))
		if rest := t.source[len("${")+len(t.root):]; strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, ":-") {
			suggest = fmt.Sprintf("For a default value write ${%s ?? %s}", t.root, quoted(rest))
		}
		d.add(Problem{Kind: Ambiguous, Offset: t.offset, Message: fmt.Sprintf("%s has a shell operator, which a template cannot have, but %s is the name of a template", t.source, t.root),
			Suggest: fmt.Sprintf("%s; for the shell variable %s write $%s", suggest, t.variable, t.source)})
	case !set:
		d.add(undefined(t))
	case t.expr != nil:
		t.expr.Refs(func(ref template.Ref, _ bool) {
			if d.Known(ref.Root) {
				d.add(Problem{Kind: Arithmetic, Offset: t.offset, Message: fmt.Sprintf("%s is in a subscript of the shell variable %s, which bash evaluates as code", ref, t.variable),
					Suggest: fmt.Sprintf("First i=$((%s)), which accepts an integer only; then $${%s[i]}", ref, t.variable)})
			}
		})
	}
}

// quoted returns the word after the shell operator :- as a JSON string.
func quoted(operator string) string {
	word := strings.TrimLeft(operator, ":-")
	if !strings.HasSuffix(word, "}") {
		return `"…"`
	}
	b, err := rawjson.Marshal(strings.Trim(strings.TrimSuffix(word, "}"), `"'`))
	if err != nil {
		return `"…"`
	}
	return string(b)
}

// guess decides about the unclear names in a command that cannot be parsed.
func (d *draft) guess() {
	for _, t := range d.unclear {
		if !t.operator {
			d.judge(t, slices.Contains(d.Own, t.variable) || strings.Contains(d.text, t.variable+"="))
		}
	}
}

func undefined(t unclear) Problem {
	p := Problem{Kind: Undefined, Name: t.root, Expr: t.expr, Offset: t.offset,
		Message: fmt.Sprintf("%s not resolved: no input or node has this name, and the command does not set it", t.source)}
	switch {
	case !readable(t.expr):
		p.Suggest = fmt.Sprintf("For a literal %s write $%[1]s", t.source)
	case t.variable == t.root && !strings.Contains(t.source, "["):
		p.Suggest = fmt.Sprintf("For the shell variable write $%s, or $%s", t.root, t.source)
	default: // $a-b would be $a and text
		p.Suggest = fmt.Sprintf("For the shell variable %s write $%s", t.variable, t.source)
	}
	return p
}

// assigned returns the names of the variables that a command sets.
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

// setByCall returns the names of the variables that a built-in command sets. Options among its arguments may be included;
// they do no harm.
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
