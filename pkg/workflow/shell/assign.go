package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// source is the template that a variable is set from.
type source struct {
	template string
	leads    bool // the value's first word contains the template
}

// sources are the variables of a command that hold values of templates.
type sources struct {
	*draft
	variables map[string]source
	functions []stretch
}

// fromEnv is the template of a variable that the node's env sets.
const fromEnv = "a template of the node's env"

// assigned records the variables that a node of the syntax tree sets from a template. The tree is walked once, in the order of the
// text, so that a variable that is set from such a variable counts if it comes later.
func (s *sources) assigned(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.FuncDecl:
		s.functions = append(s.functions, stretch{n.Pos().Offset(), n.End().Offset()})
	case *syntax.Assign:
		var words []*syntax.Word
		if n.Array != nil {
			for _, elem := range n.Array.Elems {
				words = append(words, elem.Value)
			}
		} else {
			words = append(words, n.Value)
		}
		s.set(assignedName(n), words, n.Append && n.Array != nil)
	case *syntax.WordIter:
		for _, w := range n.Items {
			s.set(n.Name.Value, []*syntax.Word{w}, false)
		}
	case *syntax.ParamExp:
		if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			s.set(n.Param.Value, []*syntax.Word{n.Exp.Word}, false)
		}
	case *syntax.CallExpr:
		if len(n.Args) > 1 && n.Args[0].Lit() == "set" {
			operands := n.Args[1:]
			for len(operands) > 0 && strings.HasPrefix(operands[0].Lit(), "-") {
				operands = operands[1:]
			}
			s.set(s.key("@", n.Pos().Offset()), operands, false)
		}
	}
	return true
}

// set records that a variable is set to words. If they are appended to others, they do not lead.
func (s *sources) set(name string, words []*syntax.Word, appended bool) {
	for i, w := range words {
		if found := s.values(w); len(found) > 0 {
			v := s.variables[name]
			v.template = found[0].template
			v.leads = v.leads || i == 0 && !appended
			s.variables[name] = v
		}
	}
}

// key returns the name under which a variable is recorded that is used at an offset. The positional parameters are one
// variable, and each function has its own.
func (s *sources) key(name string, at uint) string {
	if name != "@" && name != "*" && (name == "" || name[0] < '0' || name[0] > '9') {
		return name
	}
	for i, f := range slices.Backward(s.functions) { // an inner function comes after its outer one
		if f.holds(at) {
			return "@ " + variable(i)
		}
	}
	return "@"
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
func (s *sources) values(w *syntax.Word) []value {
	if w == nil {
		return nil
	}
	return s.inParts(nil, w.Parts, true)
}

func (s *sources) inParts(found []value, parts []syntax.WordPart, bare bool) []value {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.SglQuoted:
			found = append(found, s.inText(p)...)
		case *syntax.DblQuoted:
			found = s.inParts(found, p.Parts, false)
		case *syntax.ParamExp:
			found = s.expanded(found, p, bare)
		}
	}
	return found
}

// inText returns the templates in a stretch that the shell does not expand.
func (s *sources) inText(n syntax.Node) (found []value) {
	first, end := s.within(n.Pos().Offset(), n.End().Offset())
	for i := first; i < end; i++ {
		if m := &s.marks[i]; !m.number {
			found = append(found, value{template: m.expr.String(), mark: i, at: m.from})
		}
	}
	return found
}

func (s *sources) expanded(found []value, p *syntax.ParamExp, bare bool) []value {
	if p.Length || p.Param == nil {
		return found
	}
	alternative := p.Exp != nil && (p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull)
	at := p.Pos().Offset()
	if i, ok := s.marked(p); ok {
		if m := &s.marks[i]; !m.number {
			found = append(found, value{template: m.expr.String(), mark: i, at: at, bare: bare})
		}
	} else if v, ok := s.variables[s.key(p.Param.Value, at)]; ok && !alternative {
		found = append(found, value{template: v.template, mark: -1, name: "$" + p.Param.Value, at: at, bare: bare, leads: v.leads})
	}
	if p.Repl != nil && p.Repl.With != nil {
		found = s.inParts(found, p.Repl.With.Parts, bare)
	}
	if p.Exp != nil && p.Exp.Word != nil && p.Exp.Op >= syntax.AlternateUnset && p.Exp.Op <= syntax.AssignUnsetOrNull {
		found = s.inParts(found, p.Exp.Word.Parts, bare)
	}
	return found
}
