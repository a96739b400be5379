package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// input is what a command reads, given what it would read without its redirections.
func (f *flow) input(redirects []*syntax.Redirect, in trace) trace {
	f.document = nil
	for _, r := range redirects {
		if r.N != nil && r.N.Value != "0" {
			f.learn(f.written, descriptor+r.N.Value, f.given(r))
			continue
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrIn, syntax.DplIn, syntax.RdrInOut:
			in, f.document = f.given(r), nil
			if r.Hdoc != nil && quotedWord(r.Word) {
				f.document = r.Hdoc
			}
		}
	}
	return in
}

// descriptor begins the names under which what file descriptors give is noted among the files.
const descriptor = "/dev/fd/"

// given is what a redirection gives to read.
func (f *flow) given(r *syntax.Redirect) trace {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil && quotedWord(r.Word) {
			return f.literal(r.Hdoc)
		}
		return f.word(r.Hdoc)
	case syntax.WordHdoc:
		return f.word(r.Word)
	case syntax.RdrIn, syntax.RdrInOut:
		if isStdin(r.Word) {
			return f.stdin
		}
		return first(f.substituted(r.Word), f.content(r.Word))
	case syntax.DplIn:
		if r.Word.Lit() == "0" {
			return f.stdin
		}
		return f.written[descriptor+strings.TrimSuffix(r.Word.Lit(), "-")]
	}
	return trace{}
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
	in = first(f.written[descriptor+"0"], in)
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
	switch c, ok := s.Cmd.(*syntax.CallExpr); {
	case s.Cmd == nil && f.stdin != in: // $(<file) prints it
		t = f.stdin
	case ok && len(c.Args) == 1 && c.Args[0].Lit() == "exec" && f.stdin != in:
		f.learn(f.written, descriptor+"0", f.stdin)
	}
	if target != nil {
		f.write(target, t)
		return trace{}
	}
	return t
}

// write notes what a file holds.
func (f *flow) write(file *syntax.Word, t trace) { f.learn(f.written, fileName(file), t) }

// copied notes what files hold that are made of others.
func (f *flow) copied(args []*syntax.Word) {
	files := slices.DeleteFunc(slices.Clone(args), func(w *syntax.Word) bool {
		text, _ := prefix(w)
		return strings.HasPrefix(text, "-")
	})
	if len(files) < 2 {
		return
	}
	last := files[len(files)-1]
	for _, source := range files[:len(files)-1] {
		f.write(last, f.content(source))
		if folder, ok := static(last); ok {
			f.learn(f.written, path.Join(folder, path.Base(fileName(source))), f.content(source))
		}
	}
}

// content is what the file that a word names holds, as far as the command writes it.
func (f *flow) content(file *syntax.Word) trace { return f.written[fileName(file)] }

// fileName is the name under which a file is noted: its path, or the variable that alone holds it. It is empty when
// the word is neither.
func fileName(w *syntax.Word) string {
	if name, ok := static(w); ok && name != "" {
		name = path.Clean(name)
		for _, folder := range []string{"/proc/self/fd/", "/dev/std"} {
			if number, ok := strings.CutPrefix(name, folder); ok {
				return descriptor + strings.NewReplacer("in", "0", "out", "1", "err", "2").Replace(number)
			}
		}
		return name
	}
	if name := plainVariable(w); name != "" {
		return "$" + name
	}
	return ""
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
			outer := f.body
			f.body = c.Name.Value
			f.learn(f.says, c.Name.Value, f.stmt(c.Body, f.fed[c.Name.Value]))
			f.body = outer
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
				for _, item := range n.Items {
					f.constant(n.Name.Value, item)
				}
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
