package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Benign reports whether the exit status of a command, which is not 0, only means that its last program searched for something
// and did not find it: grep and similar programs, which, command -v, type, and ls with a pattern that matches no file. The reason
// says so. stderr is the standard error of the command; it must contain nothing else than the message of such a program. If
// another program of the command could have caused the status, Benign returns false.
func Benign(command string, code int, stderr string) (reason string, ok bool) {
	if code != 1 && code != 2 && code != 127 || len(stderr) > maxComplaint {
		return "", false
	}
	file := searching(command)
	if file == nil {
		return "", false
	}
	return (&verdict{code: code, complaint: strings.TrimSpace(stderr), spoken: true}).judge(file)
}

// Searches reports whether a command can end with an exit status that [Benign] takes for no failure. The reason is that of Benign.
func Searches(command string) (reason string, ok bool) {
	file := searching(command)
	if file == nil {
		return "", false
	}
	for _, code := range []int{1, 2} {
		if reason, ok := (&verdict{code: code, spoken: true, any: true}).judge(file); ok {
			return reason, true
		}
	}
	return "", false
}

// searching returns the parsed command if it may run a program that searches, or nil.
func searching(command string) *syntax.File {
	names := func(name string) bool { return strings.Contains(command, name) }
	if !slices.ContainsFunc([]string{"grep", "rg", "which", "command", "type", "ls"}, names) || nesting(command) > maxNesting {
		return nil
	}
	file, err := parse(command, syntax.LangBash)
	if err != nil {
		return nil
	}
	return file
}

func (v *verdict) judge(file *syntax.File) (reason string, ok bool) {
	if !v.fit(file) {
		return "", false
	}
	return v.list(file.Stmts)
}

// maxComplaint is the most bytes of standard error that are examined.
const maxComplaint = 64 << 10

// verdict examines a command that ended with an exit status other than 0.
type verdict struct {
	code      int
	complaint string
	// spoken reports whether complaint has everything that the programs wrote to standard error.
	spoken bool
	// any stands for any complaint that is allowed.
	any bool
}

// fit reports whether the status of the command can only be that of its last program.
func (v *verdict) fit(file *syntax.File) bool {
	fit := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			fit = false // what is called may be no program
		case *syntax.Redirect:
			if n.Op == syntax.RdrAll || n.Op == syntax.AppAll || n.Op == syntax.DplOut || n.N != nil && n.N.Value == "2" {
				v.spoken = false
			}
		case *syntax.CallExpr:
			fit = fit && (len(n.Args) == 0 || !decides(n.Args))
		}
		return fit
	})
	return fit
}

// decides reports whether a built-in command can end the others, or make them end otherwise.
func decides(args []*syntax.Word) bool {
	name, ok := static(args[0])
	if !ok {
		return true
	}
	if name == "set" {
		return slices.ContainsFunc(args[1:], func(w *syntax.Word) bool {
			text, ok := static(w)
			return !ok || strings.HasPrefix(text, "-") && strings.ContainsAny(text, "eEo")
		})
	}
	return listed(" exit exec eval . source trap return break continue kill shopt alias builtin enable ", name)
}

// list is about the last of some statements, which gives their status.
func (v *verdict) list(stmts []*syntax.Stmt) (string, bool) {
	if len(stmts) == 0 {
		return "", false
	}
	return v.stmt(stmts[len(stmts)-1])
}

func (v *verdict) stmt(s *syntax.Stmt) (string, bool) {
	if s.Negated || s.Background || s.Coprocess || s.Disown {
		return "", false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return v.call(c.Args)
	case *syntax.Subshell:
		return v.list(c.Stmts)
	case *syntax.Block:
		return v.list(c.Stmts)
	case *syntax.BinaryCmd:
		reason, ok := v.stmt(c.Y)
		if ok && c.Op == syntax.AndStmt && !v.loud(c.X) { // it may be the first that ended so
			_, ok = v.stmt(c.X)
		}
		return reason, ok
	}
	return "", false
}

// loud reports whether a statement that fails would have said so.
func (v *verdict) loud(s *syntax.Stmt) bool {
	if c, ok := s.Cmd.(*syntax.BinaryCmd); ok && c.Op == syntax.AndStmt && !s.Negated {
		return v.loud(c.X) && v.loud(c.Y)
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || !v.spoken || v.complaint != "" {
		return false
	}
	if len(c.Args) == 0 {
		return false
	}
	name, _ := static(c.Args[0])
	return listed(" : true cd echo printf export pwd mkdir touch cat ls cp mv rm ln sleep ", name)
}

// call is about a simple command.
func (v *verdict) call(args []*syntax.Word) (string, bool) {
	var words []string
	for _, a := range args {
		text, ok := static(a)
		if !ok {
			text = "\x00"
		}
		words = append(words, text)
	}
	for len(words) > 0 && listed(" env sudo ", words[0]) { // without options
		words, args = words[1:], args[1:]
		for len(words) > 0 && strings.Contains(words[0], "=") {
			words, args = words[1:], args[1:]
		}
	}
	if len(words) == 0 {
		return "", false
	}
	name := base(words[0])
	switch {
	case name == "ls":
		return v.unmatched(args[1:])
	case name == "type", name == "command" && len(words) > 1 && listed(" -v -V ", words[1]), name == "which":
		return name + " did not find " + sought(words[1:]), v.absent(name)
	case name == "git" && gitGrep(words[1:]):
		name = "git grep"
	case !listed(" grep egrep fgrep zgrep rg ", name):
		return "", false
	}
	return name + " found no match", v.code == 1 && v.complaint == ""
}

// sought are the names that a program was asked for.
func sought(words []string) string {
	names := slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") || w == "\x00" })
	if len(names) == 0 {
		return "the program"
	}
	return strings.Join(names, " or ")
}

// absent reports whether a program that looks for others has said that there is none, or nothing.
func (v *verdict) absent(name string) bool {
	if v.code != 1 && v.code != 127 {
		return false
	}
	for line := range strings.Lines(v.complaint) {
		line = strings.TrimSpace(line)
		if !strings.HasSuffix(line, "not found") && !(name == "which" && strings.Contains(line, "which: no ")) {
			return false
		}
	}
	return true
}

// gitGrep reports whether git is told to search.
func gitGrep(words []string) bool {
	for i := 0; i < len(words); i++ {
		switch {
		case words[i] == "-C", words[i] == "-c":
			i++
		case !strings.HasPrefix(words[i], "-"):
			return words[i] == "grep"
		}
	}
	return false
}

// unmatched reports whether all that ls has said is that patterns match no file.
func (v *verdict) unmatched(args []*syntax.Word) (string, bool) {
	var patterns []string
	for _, a := range args {
		for _, p := range a.Parts {
			if lit, ok := p.(*syntax.Lit); ok && strings.ContainsAny(lit.Value, "*?[") {
				patterns = append(patterns, unescaped(lit.Value, ""))
			}
		}
	}
	if len(patterns) == 0 || v.complaint == "" && v.spoken && !v.any || v.code != 1 && v.code != 2 {
		return "", false
	}
	for line := range strings.Lines(v.complaint) {
		if !strings.HasPrefix(line, "ls: ") || !strings.HasSuffix(strings.TrimSpace(line), "No such file or directory") ||
			!slices.ContainsFunc(patterns, func(p string) bool { return strings.Contains(line, p) }) {
			return "", false
		}
	}
	return "no file matches " + strings.Join(patterns, " or "), true
}
