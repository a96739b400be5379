package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// evaluation finds where the shell that runs a command evaluates text as code. A template there is an error. A variable there is
// not followed to its values: [Script.Refuses] looks at these when they are known.
type evaluation struct {
	*variables
	failed map[uint]bool // the offsets of values that have been reported
	outer  syntax.Node   // the word of the command whose text is being examined as code, or nil
	guard  *guard
}

// guard is the first place in a command where bash runs code in a value with a $ or a backtick.
type guard struct {
	what, text string
	cure       string
}

// evaluate reports the values in code, and warns of those that other programs could take as code or as options.
func (d *draft) evaluate(file *syntax.File) {
	if len(d.FromTemplates) == 0 && !slices.ContainsFunc(d.marks, func(m mark) bool { return !m.number }) {
		return // numbers are harmless everywhere
	}
	e := &evaluation{variables: newVariables(d, file), failed: map[uint]bool{}}
	for _, name := range d.FromTemplates {
		if listed(codeVariables, name) {
			d.add(Problem{Kind: Code, Offset: -1, Message: fmt.Sprintf("the node's env sets %s from a template, and a shell runs that value as code", name), Suggest: codeVariableCure})
		}
	}
	eachFile(file, func(f *syntax.File, outer syntax.Node) {
		e.outer = outer
		syntax.Walk(f, func(n syntax.Node) bool {
			e.inspect(n)
			if outer == nil {
				e.advise(n)
			}
			return true
		})
	})
	d.guard = e.guard
}

// Refuses returns a template_error if a value must not be given to the command: it has a $ or a backtick, and the command has a place
// where bash would run that, or might. name is that of the value, as messages have it.
func (s *Script) Refuses(name, value string) *fault.Fault {
	if s.guard == nil || !strings.ContainsAny(value, "$`") {
		return nil
	}
	return fault.New(fault.Template, "The value of %s contains a $ or a backtick, which bash could run where the command has %s: %s", name, s.guard.what, s.guard.text).
		Suggest("If it is a number, declare it as an integer and write it in $((…)) itself; else pass it to a command without that, in a node of its own. %s", s.guard.cure)
}

// maxCode is how deep code for a shell in code for a shell is examined.
const maxCode = 3

// eachFile calls visit for a parsed command and for the code for shells that its words hold, with the outermost of these words. Code
// that is known only when the command runs is left out.
func eachFile(file *syntax.File, visit func(f *syntax.File, outer syntax.Node)) {
	eachCode(file, nil, 0, visit)
}

func eachCode(file *syntax.File, outer syntax.Node, depth int, visit func(f *syntax.File, outer syntax.Node)) {
	visit(file, outer)
	if depth == maxCode {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		for _, w := range codeIn(n) {
			text, ok := static(w)
			if !ok || nesting(text) > maxNesting {
				continue
			}
			if f, err := parse(text, syntax.LangBash); err == nil {
				eachCode(f, cmp.Or[syntax.Node](outer, w), depth+1, visit)
			}
		}
		return true
	})
}

// codeIn returns the words of a node of the syntax tree that are code for a shell.
func codeIn(n syntax.Node) (words []*syntax.Word) {
	add := func(w *syntax.Word) {
		if w != nil {
			words = append(words, w)
		}
	}
	switch n := n.(type) {
	case *syntax.CallExpr:
		if len(n.Args) < 2 {
			return nil
		}
		located(n.Args, func(i int, _ string, l *language) {
			if l.names == shells {
				add(shellCode(n.Args[i+1:]))
			}
		})
		switch operands := n.Args[1:]; n.Args[0].Lit() {
		case "trap":
			if operands[0].Lit() == "--" && len(operands) > 1 {
				operands = operands[1:]
			}
			add(operands[0])
		case "eval":
			if len(operands) == 1 {
				add(operands[0])
			}
		}
	case *syntax.Stmt:
		if c, ok := n.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			located(c.Args, func(_ int, _ string, l *language) {
				for _, r := range n.Redirs {
					if l.names == shells && r.Hdoc != nil {
						add(r.Hdoc)
					}
				}
			})
		}
	}
	return words
}

// place returns the offset of a node in the command's text.
func (e *evaluation) place(n syntax.Node) uint {
	if e.outer != nil {
		return e.outer.Pos().Offset()
	}
	return n.Pos().Offset()
}

// fail reports an error, or a warning for a variable from outside: whoever evaluates one has passed it on purpose. In the suggestion
// ${…} stands for the value as it is written.
func (e *evaluation) fail(kind Kind, v value, where, suggest string) {
	if v.template == fromEnv || v.template == fromInput {
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
	if e.outer != nil {
		p.Offset = e.original(e.outer.Pos().Offset())
	}
	e.add(p)
}

// hints warns that what is known only when the command runs becomes code.
func (e *evaluation) hints(kind Kind, n syntax.Node, subject, where, suggest string) {
	at := e.place(n)
	if !e.failed[at] {
		e.add(Problem{Kind: kind, Message: subject + " is " + where, Suggest: suggest, Offset: e.original(at), Warning: true})
	}
}

// guarded records that bash could run a value here.
func (e *evaluation) guarded(n syntax.Node, what, cure string) {
	if e.guard != nil {
		return
	}
	if e.outer != nil {
		n = e.outer
	}
	from, to := e.original(n.Pos().Offset()), e.original(n.End().Offset())
	e.guard = &guard{what: what, text: fault.Truncate(strings.Join(strings.Fields(e.command[from:max(from, to)]), " "), 60), cure: cure}
}

// inspect reports what a node of the syntax tree itself evaluates.
func (e *evaluation) inspect(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ArithmExp:
		e.arithmetic(n, n.X, !n.Bracket)
	case *syntax.ArithmCmd:
		e.arithmetic(n, n.X, false)
	case *syntax.LetClause:
		for _, x := range n.Exprs {
			e.arithmetic(n, x, false)
		}
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{n.Init, n.Cond, n.Post} {
			e.arithmetic(n, x, false)
		}
	case *syntax.ArrayElem:
		e.arithmetic(n, n.Index, false)
	case *syntax.ParamExp:
		e.parameter(n)
	case *syntax.BinaryTest:
		if n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr {
			for _, x := range []syntax.TestExpr{n.X, n.Y} {
				if w, ok := x.(*syntax.Word); ok {
					e.arithmetic(n, w, false)
				}
			}
		}
	case *syntax.UnaryTest:
		if w, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) {
			e.name(w)
		}
	case *syntax.Redirect:
		e.redirection(n)
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

const arithmeticCure = "For a number from a command, write the command without arithmetic, with awk or expr for example."

// arithmetic reports the templates in an arithmetic expression, and guards it if it has anything but integers. A template itself may stand
// in $((…)), where [Var.Accepts] allows only an integer.
func (e *evaluation) arithmetic(within syntax.Node, x syntax.ArithmExpr, templates bool) {
	if x == nil {
		return
	}
	read := func(n syntax.Node, name string, o origin) {
		if o&^integer == 0 {
			return
		}
		e.guarded(within, "arithmetic", arithmeticCure)
		switch from := e.templates[e.key(name, n.Pos().Offset())]; {
		case from == fromInput:
			e.hints(Arithmetic, n, "$"+name+", which is "+from+",", "in arithmetic, where bash runs code in a value",
				"Values with a $ or a backtick are refused here; give a number from an input that is declared as an integer")
		case from == fromEnv:
			e.hints(Arithmetic, n, "$"+name+", which is set from "+from+",", "in arithmetic, where bash runs code in a value",
				"Write the template itself in the command, in $((…)), which accepts an integer only")
		case from != "":
			e.hints(Arithmetic, n, "$"+name+", which is set from "+from+",", "in arithmetic, where bash runs code in a value",
				fmt.Sprintf("First n=$((%s)), which accepts an integer only; then use n", from))
		case o&output != 0:
			e.hints(Arithmetic, n, "$"+name+", which a command or read has set,", "in arithmetic, where bash runs code in a value",
				"Values of templates with a $ or a backtick are refused here; compute with awk or expr, or in a node of its own, if they are to have some")
		}
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			if text, ok := static(n); ok { // x is $x here, and in the words of let
				for _, name := range namesIn(text) {
					read(n, name, e.of(name, n.Pos().Offset()))
				}
			}
		case *syntax.ParamExp:
			if i, ok := e.marked(n); ok {
				if m := &e.marks[i]; !templates && !m.number {
					e.arithmeticValue(value{template: m.expr.String(), mark: i, at: n.Pos().Offset()})
				}
			} else if n.Param != nil && !n.Length {
				read(n, n.Param.Value, e.of(n.Param.Value, n.Pos().Offset()))
			}
		case *syntax.SglQuoted:
			for _, v := range e.inText(n) {
				e.arithmeticValue(v)
			}
		case *syntax.CmdSubst:
			read(n, "(…)", output)
			return false
		case *syntax.ArithmExp:
			return n == syntax.Node(x)
		}
		return true
	})
}

// namesIn returns the names of variables in arithmetic.
func namesIn(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text, func(r rune) bool { return shellName("_"+string(r)) != "_"+string(r) }), func(s string) bool { return shellName(s) == "" })
}

func (e *evaluation) arithmeticValue(v value) {
	e.fail(Arithmetic, v, "in arithmetic, where bash runs code in a value", fmt.Sprintf("First n=$((%s)), which accepts an integer only; then use n", v.template))
}

func (e *evaluation) parameter(p *syntax.ParamExp) {
	if p.Param == nil {
		return
	}
	if !e.keyed(p.Param.Value) {
		e.arithmetic(p, p.Index, false)
	}
	if p.Slice != nil {
		e.arithmetic(p, p.Slice.Offset, false)
		e.arithmetic(p, p.Slice.Length, false)
	}
	o := e.of(p.Param.Value, p.Pos().Offset())
	switch {
	case p.Excl && p.Names == 0 && o&unfixed != 0:
		e.guarded(p, "a variable that holds the name of another", variableCure)
	case p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && p.Exp.Word.Lit() == "P" && o&unfixed != 0:
		e.fail(Code, value{template: "$" + p.Param.Value, mark: -1, at: e.place(p)}, "in ${…@P}, which runs code in a value", "Leave out the @P")
	}
}

const variableCure = "To choose a variable by a value use case … in … esac."

// name reports the templates in a word that names a variable, and guards it if the name, or its subscript, is not known.
func (e *evaluation) name(w *syntax.Word) {
	for _, v := range e.marksIn(w) {
		e.variableName(v)
	}
	text, rest := prefix(w)
	_, subscript, _ := strings.Cut(text, "[")
	loose := rest > 0 && e.ofWord(w)&unfixed != 0 || slices.ContainsFunc(namesIn(subscript), func(name string) bool { return e.of(name, w.Pos().Offset())&^integer != 0 })
	if loose {
		e.guarded(w, "the name of a variable", variableCure)
	}
}

func (e *evaluation) variableName(v value) {
	e.fail(Variable, v, "the name of a variable, and bash runs code in the subscript of a name", "Write the name itself; to choose one by a value use case … in … esac")
}

// redirection reports a template behind >& or <&, whose word bash expands twice, and guards another value there.
func (e *evaluation) redirection(r *syntax.Redirect) {
	if r.Op != syntax.DplOut && r.Op != syntax.DplIn {
		return
	}
	for _, v := range e.marksIn(r.Word) {
		e.fail(Code, v, "behind "+r.Op.String()+", whose word bash expands twice", `Redirect both outputs so: >"${…}" 2>&1`)
	}
	if _, ok := static(r.Word); !ok && e.ofWord(r.Word)&^integer != 0 {
		e.guarded(r, "a redirection by "+r.Op.String(), `Redirect both outputs by >"$file" 2>&1.`)
	}
}

const (
	// codeVariables are the variables whose values a shell runs as code, or the files that they name.
	codeVariables    = " PS0 PS1 PS2 PS4 PROMPT_COMMAND BASH_ENV ENV "
	codeVariableCure = "Leave it out, or set it to text of your own"
	// programVariables are those whose values other programs run.
	programVariables = " GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS RSYNC_RSH CVS_RSH EDITOR VISUAL PAGER " +
		"MANPAGER LESSOPEN LESSCLOSE BROWSER PERL5OPT PYTHONSTARTUP NODE_OPTIONS RUBYOPT JAVA_TOOL_OPTIONS MAKEFLAGS LD_PRELOAD DYLD_INSERT_LIBRARIES TAR_OPTIONS "
	// integerVariables are the variables to which bash assigns the result of arithmetic.
	integerVariables = " RANDOM SRANDOM HISTCMD OPTIND "
)

func (e *evaluation) assignment(a *syntax.Assign) {
	name := assignedName(a)
	if !e.keyed(name) {
		e.arithmetic(a, a.Index, false)
	}
	calculates := listed(integerVariables, name) || strings.Contains(e.attributes[name], "i")
	for _, v := range e.marksIn(a.Value) {
		switch {
		case listed(codeVariables, name):
			e.fail(Code, v, "the value of "+name+", which a shell runs as code", codeVariableCure)
		case calculates:
			e.arithmeticValue(v)
		}
	}
	for _, v := range e.values(a.Value) {
		if listed(programVariables, name) {
			e.warn(Program, v, "the value of "+name+", which a program runs", "Write the command yourself")
		}
	}
	switch o := e.ofWord(a.Value); {
	case listed(codeVariables, name) && o&unfixed != 0 && len(e.marksIn(a.Value)) == 0:
		e.fail(Code, value{template: "what is known only when the command runs", mark: -1, at: e.place(a)}, "the value of "+name+", which a shell runs as code", codeVariableCure)
	case calculates && e.of(name, 0)&^integer != 0:
		e.guarded(a, "a variable of integers, to which bash assigns by arithmetic", arithmeticCure)
	}
}

// declaration reports the values in the arguments of declare, export, local and readonly.
func (e *evaluation) declaration(c *syntax.DeclClause) {
	for _, a := range c.Args {
		name := assignedName(a)
		options := e.attributes[name]
		switch {
		case a.Naked && a.Name != nil && strings.Contains(options, "i") && e.of(name, 0)&^integer != 0: // it is set later
			e.guarded(c, "a variable of integers, to which bash assigns by arithmetic", arithmeticCure)
		case name == "" && a.Value != nil, strings.Contains(options, "n") && a.Value != nil:
			if text, _ := prefix(a.Value); !strings.HasPrefix(text, "-") {
				e.name(a.Value)
			}
		case c.Variant.Value != "export" && strings.ContainsAny(options, "aA"):
			for _, v := range e.marksIn(a.Value) {
				e.fail(Arithmetic, v, "the value of an array, in whose subscripts bash runs code", fmt.Sprintf(`Write it as an item: %s=("${…}")`, name))
			}
			if a.Value != nil && e.ofWord(a.Value)&unfixed != 0 {
				e.guarded(c, "an array from one word, in whose subscripts bash runs code", "")
			}
		}
	}
}

// listed reports whether a word is in a list of words with blanks around each.
func listed(list, word string) bool { return word != "" && strings.Contains(list, " "+word+" ") }
