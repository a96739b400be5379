package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Where bash evaluates arithmetic, it runs what stands in a subscript: the value a[$(…)] is code there.
const inArithmetic = "in arithmetic, where bash runs code that is in a value"

// checked says how a value gets into arithmetic.
func (f *flow) checked(t trace) string {
	switch {
	case !t.found():
		return ""
	case t.mark < 0:
		return "Write the template itself in the command, in $((…)), which accepts an integer only"
	case t.via == "$(…)":
		return "Let nothing but digits through: $(… | tr -cd 0-9)"
	}
	form := fmt.Sprintf("First n=$((%s)), which accepts an integer only; then use n", f.expr(t))
	if t.via != "" {
		form += fmt.Sprintf(`. Or compute with expr "%s" + 1, which runs nothing`, t.via)
	}
	return form
}

// evaluated looks at what bash evaluates: arithmetic, subscripts, bounds, the names of variables.
func (f *flow) evaluated(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ArithmExp:
		f.arithmetic(n.X, !n.Bracket)
	case *syntax.ArithmCmd:
		f.arithmetic(n.X, false)
	case *syntax.LetClause:
		for _, x := range n.Exprs {
			f.arithmetic(x, false)
		}
	case *syntax.CStyleLoop:
		f.arithmetic(n.Init, false)
		f.arithmetic(n.Cond, false)
		f.arithmetic(n.Post, false)
	case *syntax.ArrayElem:
		f.arithmetic(n.Index, false)
	case *syntax.ParamExp:
		f.parameter(n)
	case *syntax.BinaryTest:
		if n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr {
			for _, x := range []syntax.TestExpr{n.X, n.Y} {
				if w, ok := x.(*syntax.Word); ok {
					f.arithmetic(w, false)
				}
			}
		}
	case *syntax.UnaryTest:
		if w, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) {
			f.name(f.word(w))
		}
	}
}

// arithmetic looks at an arithmetic expression. A template itself may stand in $((…)), for only an integer is accepted
// there; in what bash alone has it may not, for other shells do not read that as arithmetic.
func (f *flow) arithmetic(x syntax.ArithmExpr, templates bool) {
	if x == nil {
		return
	}
	accept := func(t trace) bool { return templates && t.via == "" }
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			if t := f.variable(shellName(n.Lit())); len(n.Parts) == 1 && !accept(t) {
				f.fail(t, inArithmetic, f.checked(t))
			}
		case *syntax.ParamExp:
			if t := f.expansion(n); !accept(t) {
				f.fail(t, inArithmetic, f.checked(t))
			}
		case *syntax.CmdSubst:
			t := f.part(n)
			f.fail(t, inArithmetic, f.checked(t))
			return false
		case *syntax.SglQuoted:
			t := f.literal(n)
			f.fail(t, inArithmetic, f.checked(t))
		}
		return true
	})
}

func (f *flow) parameter(p *syntax.ParamExp) {
	if p.Param == nil {
		return
	}
	name := p.Param.Value
	if p.Index != nil && !f.keyed[name] {
		f.arithmetic(p.Index, false)
	}
	if p.Slice != nil {
		f.arithmetic(p.Slice.Offset, false)
		f.arithmetic(p.Slice.Length, false)
	}
	if p.Excl && p.Names == 0 {
		f.name(f.variable(name))
	}
	if p.Exp == nil {
		return
	}
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		f.set(name, f.word(p.Exp.Word))
	case syntax.OtherParamOps:
		if p.Exp.Word.Lit() == "P" {
			f.fail(f.variable(name), "in ${…@P}, which runs code that is in a value", "Leave out the @P")
		}
	}
}

// name looks at what is used as the name of a variable.
func (f *flow) name(t trace) bool {
	return f.fail(t, "where a variable is named, and bash runs code that is in a name's subscript, as in a[$(…)]",
		"Write the variable's name itself; to choose one by a value use case … in … esac")
}

// The variables whose values are code: what they hold the shell, or one that it starts, expands or evaluates.
const (
	codeVariables    = " PS0 PS1 PS2 PS4 PROMPT_COMMAND BASH_ENV ENV "
	commandVariables = " GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_PAGER GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_SEQUENCE_EDITOR GIT_PROXY_COMMAND EDITOR VISUAL PAGER MANPAGER BROWSER " +
		"LESSOPEN LESSCLOSE SSH_ASKPASS RSYNC_RSH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT PATH SHELL MAKEFLAGS PERL5OPT PYTHONSTARTUP NODE_OPTIONS RUBYOPT "
	integerVariables = " RANDOM SRANDOM HISTCMD OPTIND SECONDS "
)

// set looks at the setting of a variable.
func (f *flow) set(name string, t trace) {
	switch {
	case listed(codeVariables, name):
		f.fail(t, "in the variable "+name+", whose value a shell runs as code", "Do without it, or set it to text of your own")
	case listed(commandVariables, name):
		f.caution(t, "in the variable "+name+", which says what other programs run", "Set it to text of your own, or choose it with case … in … esac")
	case listed(integerVariables, name), f.integers[name]:
		f.fail(t, inArithmetic, f.checked(t))
	}
	f.hold(name, t)
}

func (f *flow) assign(a *syntax.Assign) {
	name := assignedName(a)
	t := f.word(a.Value)
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			t = first(t, f.word(e.Value))
		}
	}
	if a.Array != nil || a.Index != nil {
		f.mark(f.arrays, name)
	}
	if a.Index != nil && !f.keyed[name] {
		f.arithmetic(a.Index, false)
	}
	if a.Append || a.Array != nil || a.Index != nil {
		f.mark(f.computed, name)
	} else if !a.Naked {
		f.constant(name, a.Value)
	}
	f.set(name, t)
}

func (f *flow) mark(names map[string]bool, name string) {
	f.changed = f.changed || !names[name]
	names[name] = true
}

// declare looks at export, local, declare and their like.
func (f *flow) declare(c *syntax.DeclClause) {
	var options []byte
	for _, a := range c.Args {
		if a.Name == nil {
			if text, ok := static(a.Value); ok && strings.HasPrefix(text, "-") {
				options = append(options, text...)
				continue
			}
		}
		f.declared(c.Variant.Value, string(options), a)
	}
}

func (f *flow) declared(by, options string, a *syntax.Assign) {
	name := assignedName(a)
	if name == "" {
		f.inside(a)
		f.name(f.word(a.Value))
		return
	}
	if by != "export" {
		if strings.Contains(options, "i") {
			f.mark(f.integers, name)
		}
		if strings.ContainsAny(options, "aA") {
			f.mark(f.arrays, name)
		}
		if strings.Contains(options, "A") {
			f.mark(f.keyed, name)
		}
		t := f.word(a.Value)
		if strings.Contains(options, "n") {
			f.name(t)
		}
		if f.arrays[name] && a.Index == nil {
			f.fail(t, "in the value of an array, where bash runs code that is in a value", fmt.Sprintf(`Write it as an item: %s=("…")`, name))
		}
	}
	f.inside(a)
}

// listed reports whether a word stands in a list of words with blanks around each.
func listed(list, word string) bool { return word != "" && strings.Contains(list, " "+word+" ") }
