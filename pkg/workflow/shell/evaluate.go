package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// evaluation finds the values that stand directly where the shell that runs the command evaluates text as code. It does not
// follow them through pipes, files, functions or other programs.
type evaluation struct {
	*sources
	failed map[uint]bool // the offsets of values that have been reported
}

// evaluate reports the values in code, and warns of those that other programs could take as code or as options.
func (d *draft) evaluate(file *syntax.File) {
	e := &evaluation{&sources{draft: d, variables: map[string]source{}}, map[uint]bool{}}
	for _, name := range d.FromTemplates {
		e.variables[name] = source{template: fromEnv, leads: true}
		if listed(codeVariables, name) {
			d.add(Problem{Kind: Code, Offset: -1, Message: fmt.Sprintf("the node's env sets %s from a template, and a shell runs that value as code", name), Suggest: codeVariableCure})
		}
	}
	syntax.Walk(file, e.assigned)
	syntax.Walk(file, func(n syntax.Node) bool {
		e.inspect(n)
		e.advise(n)
		return true
	})
}

// fail reports an error, or a warning for a variable of the node's env: whoever evaluates one has passed it on purpose. In the
// suggestion ${…} stands for the value as it is written.
func (e *evaluation) fail(kind Kind, v value, where, suggest string) {
	if v.template == fromEnv {
		e.warn(kind, v, where, suggest)
		e.failed[v.at] = true // no second one
		return
	}
	e.report(v, Problem{Kind: kind, Message: "is " + where, Suggest: suggest})
	e.failed[v.at] = true
	if v.mark >= 0 {
		e.marks[v.mark].faulty = true
	}
}

// warn reports a warning in the same way, unless there is an error.
func (e *evaluation) warn(kind Kind, v value, where, suggest string) {
	if !e.failed[v.at] {
		e.report(v, Problem{Kind: kind, Message: "is " + where, Suggest: suggest, Warning: true})
	}
}

func (e *evaluation) report(v value, p Problem) {
	subject, written := v.template, v.template
	if v.name != "" {
		subject, written = fmt.Sprintf("%s, which is set from %s,", v.name, v.template), v.name
	}
	p.Message = subject + " " + p.Message
	p.Suggest = strings.ReplaceAll(p.Suggest, "${…}", written)
	p.Offset = e.original(v.at)
	e.add(p)
}

// inspect reports what a node of the syntax tree itself evaluates.
func (e *evaluation) inspect(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ArithmExp:
		e.arithmetic(n.X, !n.Bracket)
	case *syntax.ArithmCmd:
		e.arithmetic(n.X, false)
	case *syntax.LetClause:
		for _, x := range n.Exprs {
			e.arithmetic(x, false)
		}
	case *syntax.CStyleLoop:
		e.arithmetic(n.Init, false)
		e.arithmetic(n.Cond, false)
		e.arithmetic(n.Post, false)
	case *syntax.ArrayElem:
		e.arithmetic(n.Index, false)
	case *syntax.ParamExp:
		e.parameter(n)
	case *syntax.BinaryTest:
		if n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr {
			for _, x := range []syntax.TestExpr{n.X, n.Y} {
				if w, ok := x.(*syntax.Word); ok {
					e.arithmetic(w, false)
				}
			}
		}
	case *syntax.UnaryTest:
		if w, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) {
			e.name(w)
		}
	case *syntax.Assign:
		e.assignment(n)
	case *syntax.DeclClause:
		e.declaration(n)
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			e.call(n.Args)
		}
	}
}

// arithmetic reports the values in an arithmetic expression. A template itself may stand in $((…)), where [Var.Accepts]
// allows only an integer.
func (e *evaluation) arithmetic(x syntax.ArithmExpr, templates bool) {
	if x == nil {
		return
	}
	report := func(found []value) {
		for _, v := range found {
			if !templates || v.name != "" {
				e.arithmeticValue(v)
			}
		}
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word: // x is $x here
			name := n.Lit()
			if s, ok := e.variables[name]; ok && len(n.Parts) == 1 {
				report([]value{{template: s.template, mark: -1, name: "$" + name, at: n.Pos().Offset()}})
			}
		case *syntax.ParamExp:
			report(e.expanded(nil, n, true))
		case *syntax.SglQuoted:
			for _, v := range e.inText(n) {
				e.arithmeticValue(v)
			}
		case *syntax.CmdSubst, *syntax.ArithmExp:
			return n == syntax.Node(x)
		}
		return true
	})
}

func (e *evaluation) arithmeticValue(v value) {
	cure := fmt.Sprintf("First n=$((%s)), which accepts an integer only; then use n", v.template)
	if v.template == fromEnv {
		cure = "Write the template itself in the command, in $((…)), which accepts an integer only"
	}
	e.fail(Arithmetic, v, "in arithmetic, where bash runs code in a value", cure)
}

func (e *evaluation) parameter(p *syntax.ParamExp) {
	if p.Param == nil {
		return
	}
	if !e.keyed(p.Param.Value) {
		e.arithmetic(p.Index, false)
	}
	if p.Slice != nil {
		e.arithmetic(p.Slice.Offset, false)
		e.arithmetic(p.Slice.Length, false)
	}
	for _, v := range e.expanded(nil, &syntax.ParamExp{Dollar: p.Dollar, Param: p.Param}, false) {
		switch {
		case p.Excl && p.Names == 0:
			e.variableName(v)
		case p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && p.Exp.Word.Lit() == "P":
			e.fail(Code, v, "in ${…@P}, which runs code in a value", "Leave out the @P")
		}
	}
}

// name reports the values in a word that names a variable.
func (e *evaluation) name(w *syntax.Word) {
	for _, v := range e.values(w) {
		e.variableName(v)
	}
}

func (e *evaluation) variableName(v value) {
	e.fail(Variable, v, "the name of a variable, and bash runs code in the subscript of a name", "Write the name itself; to choose one by a value use case … in … esac")
}

const (
	// codeVariables are the variables whose values a shell runs as code, or the files that they name.
	codeVariables    = " PS0 PS1 PS2 PS4 PROMPT_COMMAND BASH_ENV ENV "
	codeVariableCure = "Leave it out, or set it to text of your own"
	// integerVariables are the variables to which bash assigns the result of arithmetic.
	integerVariables = " RANDOM SRANDOM HISTCMD OPTIND "
)

func (e *evaluation) assignment(a *syntax.Assign) {
	name := assignedName(a)
	if !e.keyed(name) {
		e.arithmetic(a.Index, false)
	}
	for _, v := range e.values(a.Value) {
		switch {
		case listed(codeVariables, name):
			e.fail(Code, v, "the value of "+name+", which a shell runs as code", codeVariableCure)
		case listed(integerVariables, name), strings.Contains(e.attributes[name], "i"):
			e.arithmeticValue(v)
		}
	}
}

// declaration reports the values in the arguments of declare, export, local and readonly.
func (e *evaluation) declaration(c *syntax.DeclClause) {
	for _, a := range c.Args {
		name := assignedName(a)
		options := e.attributes[name]
		for _, v := range e.values(a.Value) {
			switch {
			case name == "", strings.Contains(options, "n"):
				e.variableName(v)
			case c.Variant.Value != "export" && strings.ContainsAny(options, "aA"):
				e.fail(Arithmetic, v, "the value of an array, in whose subscripts bash runs code", fmt.Sprintf(`Write it as an item: %s=("${…}")`, name))
			}
		}
	}
}

// listed reports whether a word is in a list of words with blanks around each.
func listed(list, word string) bool { return word != "" && strings.Contains(list, " "+word+" ") }
