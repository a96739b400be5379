package shell

import "mvdan.cc/sh/v3/syntax"

// input is what a command reads, given what it would read without its redirections.
func (f *flow) input(redirects []*syntax.Redirect, in trace) trace {
	f.document = nil
	for _, r := range redirects {
		if r.N != nil && r.N.Value != "0" {
			continue
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = trace{}
			switch {
			case r.Hdoc == nil:
			case quotedWord(r.Word):
				in, f.document = f.literal(r.Hdoc), r.Hdoc
			default:
				in = f.word(r.Hdoc)
			}
		case syntax.WordHdoc:
			in = f.word(r.Word)
		case syntax.RdrIn:
			in = f.substituted(r.Word)
		}
	}
	return in
}

// substituted is what a word that is <(…) gives to read.
func (f *flow) substituted(w *syntax.Word) trace {
	if len(w.Parts) == 1 {
		if p, ok := w.Parts[0].(*syntax.ProcSubst); ok {
			return f.substitution(p, p.Stmts)
		}
	}
	return trace{}
}

// stmts goes through statements that read in, and gives what they print.
func (f *flow) stmts(stmts []*syntax.Stmt, in trace) (t trace) {
	for _, s := range stmts {
		t = first(t, f.stmt(s, in))
	}
	return t
}

func (f *flow) stmt(s *syntax.Stmt, in trace) trace {
	outer := f.stdin
	defer func() { f.stdin = outer }()
	f.stdin = in
	var target *syntax.Word
	for _, r := range s.Redirs {
		f.inside(r)
		if (r.Op == syntax.RdrOut || r.Op == syntax.AppOut || r.Op == syntax.RdrClob) && (r.N == nil || r.N.Value == "1") {
			target = r.Word
		}
	}
	f.stdin = f.input(s.Redirs, in)
	t := f.command(s.Cmd)
	if target != nil {
		f.write(target, t)
		return trace{}
	}
	return t
}

// write notes what a file holds.
func (f *flow) write(file *syntax.Word, t trace) {
	if name, ok := static(file); ok {
		f.learn(f.written, name, t)
	}
}

func (f *flow) command(c syntax.Command) (t trace) {
	in := f.stdin
	switch c := c.(type) {
	case nil:
	case *syntax.CallExpr:
		document := f.document
		for _, a := range c.Assigns {
			f.inside(a)
		}
		for _, a := range c.Args {
			f.inside(a)
		}
		return f.call(c.Args, in, document)
	case *syntax.BinaryCmd:
		if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
			return first(f.stmt(c.X, in), f.stmt(c.Y, in))
		}
		left := f.stmt(c.X, in)
		f.generated(c, left)
		return f.stmt(c.Y, left)
	case *syntax.FuncDecl:
		if c.Name != nil {
			f.changed = f.changed || !f.function[c.Name.Value]
			f.function[c.Name.Value] = true
			f.learn(f.says, c.Name.Value, f.stmt(c.Body, f.fed[c.Name.Value]))
		}
	case *syntax.DeclClause:
		f.declare(c)
	default:
		return f.inside(c)
	}
	return trace{}
}

// inside goes through all that stands in a node, and gives what the statements in it print.
func (f *flow) inside(n syntax.Node) (t trace) {
	in := f.stdin
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			t = first(t, f.stmt(n, in))
			return false
		case *syntax.CmdSubst:
			f.part(n)
			return false
		case *syntax.ProcSubst:
			f.substitution(n, n.Stmts)
			return false
		case *syntax.Assign:
			f.assign(n)
		case *syntax.WordIter:
			if n.InPos.IsValid() {
				f.hold(n.Name.Value, f.words(n.Items))
			} else {
				f.hold(n.Name.Value, f.variable("@"))
			}
		default:
			f.evaluated(n)
		}
		return true
	})
	return t
}

// generated warns of a program that makes code of a template for a shell to read.
func (f *flow) generated(pipe *syntax.BinaryCmd, left trace) {
	x, ok := pipe.X.Cmd.(*syntax.CallExpr)
	y, reads := pipe.Y.Cmd.(*syntax.CallExpr)
	if left.found() || !ok || !reads || len(pipe.Y.Redirs) > 0 {
		return
	}
	if name, args, l := located(x.Args); l != nil && handOver(y.Args).reads {
		f.caution(f.words(args), "among the arguments of "+name+", whose output a shell runs as code", codeForms["reads"])
	}
}
