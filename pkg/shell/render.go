package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// renderer walks a parsed command and notes what has to be written differently for each place a variable stands in.
type renderer struct {
	source   string
	vars     []Var
	edits    []edit
	seen     map[string]bool
	blamed   map[string]bool
	problems []Problem
}

// edit replaces the bytes from…to of the source.
type edit struct {
	from, to uint
	text     string
}

// file visits every part of a command.
func (r *renderer) file(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
			return r.forbid(n, "in arithmetic, where the shell evaluates text as code", `Assign it to a variable and check that it is a number first, or compute it in a node of its own`)
		case *syntax.BinaryTest:
			if slices.Contains([]syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr}, n.Op) {
				return r.forbid(n, "in a numeric comparison of [[ ]], where bash evaluates text as code", `Use [ "$a" -eq "$b" ] instead of [[ ]]`)
			}
		case *syntax.CallExpr:
			return r.call(n)
		case *syntax.Stmt:
			return r.fed(n)
		case *syntax.ParamExp:
			return r.param(n)
		case *syntax.SglQuoted:
			r.singleQuoted(n)
		case *syntax.Redirect:
			r.quotedHeredoc(n)
		}
		return true
	})
}

// forbid blames every variable inside a node and does not go into it further.
func (r *renderer) forbid(n syntax.Node, where, suggest string) bool {
	text := r.source[n.Pos().Offset():n.End().Offset()]
	found := false
	for _, v := range r.vars {
		if !strings.Contains(text, "${"+v.Name+"}") {
			continue
		}
		found = true
		if r.blamed == nil {
			r.blamed = map[string]bool{}
		}
		r.blamed[v.Name] = true
		r.problems = append(r.problems, Problem{Message: fmt.Sprintf("%s stands %s", v.Ref, where), Suggest: suggest})
	}
	return !found
}

// call looks at a command: its name must be one quoted word, and code handed to another shell takes no values.
func (r *renderer) call(c *syntax.CallExpr) bool {
	if len(c.Args) == 0 {
		return true
	}
	if v, ok := r.bare(c.Args[0]); ok { // in command position a value is one word, whatever is in it
		r.edits = append(r.edits, edit{c.Args[0].Pos().Offset(), c.Args[0].End().Offset(), `"${` + v + `}"`})
		r.seen[v] = true
	}
	for _, word := range codeWords(c.Args) {
		if !r.forbid(word, "in code that is given to another shell, which would run it", "Pass it as an argument: sh -c 'echo \"$1\"' sh \"…\"") {
			return false
		}
	}
	return true
}

// fed looks at a command's here-documents: one that a shell reads is code.
func (r *renderer) fed(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || !slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh"}, base(call.Args[0].Lit())) {
		return true
	}
	for _, red := range s.Redirs {
		if red.Hdoc != nil && !r.forbid(red.Hdoc, "in code that is given to another shell, which would run it", "Set a variable before it and export that: export x=…; sh <<'EOF' … \"$x\" … EOF") {
			return false
		}
	}
	return true
}

// codeWords are the arguments that another shell parses again: what eval, trap and alias are given, and what follows a
// shell's -c, wherever among the arguments the shell is named, for it may stand behind timeout, env, xargs or find -exec.
func codeWords(args []*syntax.Word) []*syntax.Word {
	for i, name := range args {
		switch base(name.Lit()) {
		case "eval", "trap", "alias":
			if i == 0 || i == 1 && slices.Contains([]string{"command", "builtin"}, args[0].Lit()) {
				return args[i+1:]
			}
		case "sh", "bash", "dash", "zsh", "ksh", "busybox", "su", "runuser", "script":
			for j, a := range args[i+1:] {
				if lit := a.Lit(); strings.HasPrefix(lit, "-") && !strings.HasPrefix(lit, "--") && strings.HasSuffix(lit, "c") && i+j+2 < len(args) {
					return args[i+j+2 : i+j+3]
				}
			}
		}
	}
	return nil
}

// base is the last part of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// bare is the variable when a word is just its unquoted expansion.
func (r *renderer) bare(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	p, ok := w.Parts[0].(*syntax.ParamExp)
	if !ok || !r.ours(p) {
		return "", false
	}
	return p.Param.Value, true
}

func (r *renderer) ours(p *syntax.ParamExp) bool {
	return p.Param != nil && slices.ContainsFunc(r.vars, func(v Var) bool { return v.Name == p.Param.Value })
}

func (r *renderer) param(p *syntax.ParamExp) bool {
	if p.Index != nil && !r.forbid(p, "in a subscript, which bash evaluates as code", "Compute the index in a node of its own") {
		return false
	}
	if p.Slice != nil && !r.forbid(p, "in a substring's bounds, which the shell evaluates as code", "Compute the bounds in a node of its own") {
		return false
	}
	if r.ours(p) {
		r.seen[p.Param.Value] = true
	}
	return true
}

// singleQuoted closes the quotes around each variable: 'a ${x} b' becomes 'a '"${x}"' b'.
func (r *renderer) singleQuoted(q *syntax.SglQuoted) {
	for _, v := range r.vars {
		ref := "${" + v.Name + "}"
		for from := 0; ; {
			i := strings.Index(q.Value[from:], ref)
			if i < 0 {
				break
			}
			if q.Dollar { // $'…' has escapes of its own, so its text is not its source
				r.forbid(q, "in $'…'", `Put it in double quotes`)
				return
			}
			at := q.Left.Offset() + 1 + uint(from+i)
			r.edits = append(r.edits, edit{at, at + uint(len(ref)), `'"` + ref + `"'`})
			r.seen[v.Name] = true
			from += i + len(ref)
		}
	}
}

// quotedHeredoc makes a here-document with a quoted delimiter one without quotes in which all but the variables is
// escaped, so that it still stands there verbatim.
func (r *renderer) quotedHeredoc(red *syntax.Redirect) {
	if red.Hdoc == nil || red.Word == nil || len(red.Hdoc.Parts) == 0 {
		return
	}
	from, to := red.Word.Pos().Offset(), red.Word.End().Offset()
	delimiter := r.source[from:to]
	if !strings.ContainsAny(delimiter, `'"\`) {
		return
	}
	start, end := red.Hdoc.Pos().Offset(), red.Hdoc.End().Offset()
	body := r.source[start:end]
	if !strings.Contains(body, "${"+VariablePrefix) {
		return
	}
	escaped := strings.NewReplacer(`\`, `\\`, "`", "\\`", `$`, `\$`).Replace(body)
	for _, v := range r.vars {
		if ref := "${" + v.Name + "}"; strings.Contains(body, ref) {
			escaped = strings.ReplaceAll(escaped, `\`+ref, ref)
			r.seen[v.Name] = true
		}
	}
	r.edits = append(r.edits,
		edit{from, to, strings.NewReplacer(`'`, "", `"`, "", `\`, "").Replace(delimiter)},
		edit{start, end, escaped})
}

// result is the source with all edits made.
func (r *renderer) result() string {
	slices.SortFunc(r.edits, func(a, b edit) int { return int(a.from) - int(b.from) })
	var b strings.Builder
	at := uint(0)
	for _, e := range r.edits {
		if e.from < at { // within an edit that was made already
			continue
		}
		b.WriteString(r.source[at:e.from] + e.text)
		at = e.to
	}
	b.WriteString(r.source[at:])
	return b.String()
}
