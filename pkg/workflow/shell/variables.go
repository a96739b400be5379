package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// origin says what a variable can hold, as far as the text of a command gives it something. It is a set.
type origin uint8

const (
	integer   origin = 1 << iota // an integer, or the result of arithmetic
	constant                     // text of the command
	output                       // what a command prints, or what read reads
	passed                       // another variable, an argument, or a variable of the node's env
	templated                    // the value of a template
	leading                      // the same in the first word
)

// unfixed are the origins of what is known only when the command runs.
const unfixed = output | passed | templated

// The templates of variables that the command gets from outside: from the node's env, and for code from its inputs.
const (
	fromEnv   = "a template of the node's env"
	fromInput = "an input"
)

// variables are what a command, and code for a shell inside it, gives to its variables.
type variables struct {
	*draft
	origins   map[string]origin
	templates map[string]string // the first template that a variable is set from
	assigned  map[string]bool
	functions []stretch
	anywhere  origin // what is given to variables whose names are known only when the command runs
}

// newVariables returns the variables of a command. Its text is read once: what a variable gets from another one is not followed.
func newVariables(d *draft, file *syntax.File) *variables {
	v := &variables{draft: d, origins: map[string]origin{}, templates: map[string]string{}, assigned: map[string]bool{}}
	for _, name := range d.FromTemplates {
		v.give(name, templated|leading)
		v.templates[name] = fromEnv
		if d.code {
			v.templates[name] = fromInput
		}
	}
	var files []*syntax.File
	eachFile(file, func(f *syntax.File, _ syntax.Node) {
		files = append(files, f)
		for _, name := range assigned(f) {
			v.assigned[name] = true
		}
	})
	for i, f := range files {
		syntax.Walk(f, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DeclClause:
				if i > 0 {
					v.declared(n)
				}
			case *syntax.FuncDecl:
				if i == 0 {
					v.functions = append(v.functions, stretch{n.Pos().Offset(), n.End().Offset()})
				}
			}
			v.visit(n)
			return true
		})
	}
	return v
}

// visit records what a node of the syntax tree gives to variables.
func (v *variables) visit(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		words := []*syntax.Word{n.Value}
		if n.Array != nil {
			words = nil
			for _, elem := range n.Array.Elems {
				words = append(words, elem.Value)
			}
		}
		if name := assignedName(n); name != "" {
			v.set(name, words, n.Append && n.Array != nil)
		} else if _, ok := static(n.Value); !ok { // declare "$name=…"
			v.anywhere |= passed
		}
	case *syntax.WordIter:
		if len(n.Items) == 0 {
			v.give(n.Name.Value, passed)
		}
		for _, w := range n.Items {
			v.set(n.Name.Value, []*syntax.Word{w}, false)
		}
	case *syntax.ParamExp:
		if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			v.set(n.Param.Value, []*syntax.Word{n.Exp.Word}, false)
		}
	case *syntax.Redirect: // exec {fd}>file
		if n.N != nil {
			v.give(strings.Trim(n.N.Value, "{}"), integer)
		}
	case *syntax.CallExpr:
		v.called(n.Args)
	}
}

// called records what a built-in command gives to variables.
func (v *variables) called(args []*syntax.Word) {
	for len(args) > 1 && listed(" command builtin ", args[0].Lit()) {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	operands := args[1:]
	dynamic := slices.ContainsFunc(operands, func(w *syntax.Word) bool { _, ok := static(w); return !ok })
	switch name := args[0].Lit(); name {
	case "set":
		for len(operands) > 0 && strings.HasPrefix(operands[0].Lit(), "-") {
			operands = operands[1:]
		}
		v.set(v.key("@", args[0].Pos().Offset()), operands, false)
	case "printf":
		if len(operands) > 2 && operands[0].Lit() == "-v" {
			if target, ok := static(operands[1]); ok {
				v.set(target, operands[2:], true)
			} else {
				v.anywhere |= passed
			}
		}
	case "read", "mapfile", "readarray", "getopts":
		for _, target := range setByCall(args) {
			v.give(target, output)
		}
		if dynamic {
			v.anywhere |= output
		}
	}
}

// set records that a variable is set to words. If they are appended to others, they do not lead.
func (v *variables) set(name string, words []*syntax.Word, appended bool) {
	for i, w := range words {
		o := v.ofWord(w)
		if o&templated != 0 {
			if i == 0 && !appended {
				o |= leading
			}
			if found := v.marksIn(w); v.templates[name] == "" && len(found) > 0 {
				v.templates[name] = found[0].template
			}
		}
		v.give(name, o)
	}
}

func (v *variables) give(name string, o origin) { v.origins[name] |= o }

// key returns the name under which a variable is recorded that is used at an offset. The positional parameters are one
// variable, and each function has its own.
func (v *variables) key(name string, at uint) string {
	if !positional(name) {
		return name
	}
	for i, f := range slices.Backward(v.functions) { // an inner function comes after its outer one
		if f.holds(at) {
			return "@ " + variable(i)
		}
	}
	return "@"
}

func positional(name string) bool {
	return name == "@" || name == "*" || name[0] >= '0' && name[0] <= '9'
}

// of returns what a variable that is used at an offset can hold. One that the command does not set is the environment's, which has no
// values of templates.
func (v *variables) of(name string, at uint) origin {
	switch {
	case name == "":
		return 0
	case strings.Contains("#?$!-", name[:1]):
		return integer
	case positional(name):
		return v.origins[v.key(name, at)] | passed
	}
	return v.origins[name] | v.anywhere
}

// ofWord returns what a word can expand to.
func (v *variables) ofWord(w *syntax.Word) origin {
	if w == nil {
		return integer // nothing counts as 0
	}
	return v.ofParts(w.Parts)
}

func (v *variables) ofParts(parts []syntax.WordPart) (o origin) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			o |= ofText(p.Value)
		case *syntax.SglQuoted:
			if o |= ofText(p.Value); len(v.inText(p)) > 0 {
				o |= templated
			}
		case *syntax.DblQuoted:
			o |= v.ofParts(p.Parts)
		case *syntax.ArithmExp:
			o |= integer
		case *syntax.ParamExp:
			o |= v.ofExpansion(p)
		case *syntax.CmdSubst, *syntax.ProcSubst:
			o |= output
		default:
			o |= constant
		}
	}
	return o
}

func ofText(text string) origin {
	if strings.Trim(text, "+-0123456789") == "" {
		return integer
	}
	return constant
}

func (v *variables) ofExpansion(p *syntax.ParamExp) (o origin) {
	if p.Length || p.Param == nil {
		return integer
	}
	name := p.Param.Value
	if i, ok := v.marked(p); ok {
		o = templated
		if v.marks[i].number {
			o = integer
		}
	} else if o = v.of(name, p.Pos().Offset()); o == 0 && !v.assigned[name] {
		o = constant // of the environment
	} else if o != integer {
		o = passed
	}
	if p.Exp != nil && p.Exp.Word != nil && p.Exp.Op >= syntax.AlternateUnset && p.Exp.Op <= syntax.AssignUnsetOrNull {
		o |= v.ofWord(p.Exp.Word)
	}
	if p.Repl != nil {
		o |= v.ofWord(p.Repl.With)
	}
	return o
}

// declared records the options with which declare sets variables, such as A for an array with keys.
func (d *draft) declared(c *syntax.DeclClause) {
	var options []byte
	for _, a := range c.Args {
		if text, ok := static(a.Value); a.Name == nil && ok && strings.HasPrefix(text, "-") {
			options = append(options, text[1:]...)
		} else if name := assignedName(a); name != "" && len(options) > 0 {
			if d.attributes == nil {
				d.attributes = map[string]string{}
			}
			d.attributes[name] += string(options)
		}
	}
}

// keyed reports whether a variable is an array with keys, whose subscripts are not arithmetic.
func (d *draft) keyed(name string) bool { return strings.Contains(d.attributes[name], "A") }

// value is the place of a template's value in a word: of the template itself, or of a variable that is set from it.
type value struct {
	template string
	mark     int    // the index of the template, or -1 for a variable
	name     string // of the variable
	at       uint   // the offset in the text
	bare     bool   // whether the shell splits it into words
	leads    bool   // whether the variable's first word contains the value
}

// values returns the values in a word. Numbers, true and false are not reported: they are harmless everywhere. Neither is
// the output of a substitution, which is a program's.
func (v *variables) values(w *syntax.Word) []value {
	if w == nil {
		return nil
	}
	return v.inParts(nil, w.Parts, true)
}

// marksIn returns the templates themselves in a word.
func (v *variables) marksIn(w *syntax.Word) []value {
	return slices.DeleteFunc(v.values(w), func(found value) bool { return found.mark < 0 })
}

func (v *variables) inParts(found []value, parts []syntax.WordPart, bare bool) []value {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.SglQuoted:
			found = append(found, v.inText(p)...)
		case *syntax.DblQuoted:
			found = v.inParts(found, p.Parts, false)
		case *syntax.ParamExp:
			found = v.expanded(found, p, bare)
		}
	}
	return found
}

// inText returns the templates in a stretch that the shell does not expand.
func (v *variables) inText(n syntax.Node) (found []value) {
	first, end := v.within(n.Pos().Offset(), n.End().Offset())
	for i := first; i < end; i++ {
		if m := &v.marks[i]; !m.number && strings.Contains(textOfNode(n), m.name) { // not in another file of code
			found = append(found, value{template: m.expr.String(), mark: i, at: m.from})
		}
	}
	return found
}

// textOfNode returns the text of a stretch that the shell does not expand.
func textOfNode(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.SglQuoted:
		return n.Value
	case *syntax.Word:
		return n.Lit()
	}
	return ""
}

func (v *variables) expanded(found []value, p *syntax.ParamExp, bare bool) []value {
	if p.Length || p.Param == nil {
		return found
	}
	alternative := p.Exp != nil && (p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull)
	at, name := p.Pos().Offset(), p.Param.Value
	if i, ok := v.marked(p); ok {
		if m := &v.marks[i]; !m.number {
			found = append(found, value{template: m.expr.String(), mark: i, at: at, bare: bare})
		}
	} else if o := v.of(name, at); o&templated != 0 && !alternative {
		found = append(found, value{template: v.templates[v.key(name, at)], mark: -1, name: "$" + name, at: at, bare: bare, leads: o&leading != 0})
	}
	if p.Repl != nil && p.Repl.With != nil {
		found = v.inParts(found, p.Repl.With.Parts, bare)
	}
	if p.Exp != nil && p.Exp.Word != nil && p.Exp.Op >= syntax.AlternateUnset && p.Exp.Op <= syntax.AssignUnsetOrNull {
		found = v.inParts(found, p.Exp.Word.Parts, bare)
	}
	return found
}
