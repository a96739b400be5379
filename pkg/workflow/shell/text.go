package shell

import "mvdan.cc/sh/v3/syntax"

// word is what a word's text has in it.
func (f *flow) word(w *syntax.Word) trace {
	if w == nil {
		return trace{}
	}
	return f.parts(w.Parts)
}

func (f *flow) words(words []*syntax.Word) (t trace) {
	for _, w := range words {
		t = first(t, f.word(w))
	}
	return t
}

func (f *flow) parts(parts []syntax.WordPart) (t trace) {
	for _, p := range parts {
		t = first(t, f.part(p))
	}
	return t
}

func (f *flow) part(p syntax.WordPart) trace {
	switch p := p.(type) {
	case *syntax.SglQuoted:
		return f.literal(p)
	case *syntax.DblQuoted:
		return f.parts(p.Parts)
	case *syntax.ParamExp:
		return f.expansion(p)
	case *syntax.CmdSubst:
		return f.substitution(p, p.Stmts)
	}
	return trace{} // arithmetic gives a number, a process substitution a file's name
}

// substitution is what a substitution's commands print. They are gone through once in a pass.
func (f *flow) substitution(n syntax.Node, stmts []*syntax.Stmt) trace {
	t, known := f.substs[n]
	if !known {
		if t = f.stmts(stmts, f.stdin); t.found() {
			t.via = "$(…)"
		}
		f.substs[n] = t
	}
	return t
}

// literal is the first of the marks in text that the shell does not expand.
func (f *flow) literal(n syntax.Node) trace {
	if f.foreign == 0 {
		if i, end := f.within(n.Pos().Offset(), n.End().Offset()); i < end {
			return trace{mark: i + 1}
		}
	}
	return trace{}
}

func (f *flow) expansion(p *syntax.ParamExp) trace {
	if p.Length || p.Param == nil {
		return trace{}
	}
	own := f.variable(p.Param.Value)
	switch {
	case p.Repl != nil:
		return first(own, f.word(p.Repl.With))
	case p.Exp == nil:
		return own
	case p.Exp.Op == syntax.AlternateUnset, p.Exp.Op == syntax.AlternateUnsetOrNull:
		return f.word(p.Exp.Word)
	case p.Exp.Op >= syntax.DefaultUnset && p.Exp.Op <= syntax.AssignUnsetOrNull:
		return first(own, f.word(p.Exp.Word))
	}
	return own
}

// unquoted is what stands in a word in no quotes. Of the templates themselves it finds none unless asked to.
func (f *flow) unquoted(w *syntax.Word, templates bool) trace {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			if t := f.part(p); t.found() && (templates || t.via != "") {
				return t
			}
		}
	}
	return trace{}
}
