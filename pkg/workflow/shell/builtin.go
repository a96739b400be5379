package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call reports the values in the arguments of the commands that evaluate them.
func (e *evaluation) call(args []*syntax.Word) {
	e.started(args)
	for len(args) > 1 && listed(" command builtin exec ", args[0].Lit()) {
		for args = args[1:]; len(args) > 1 && strings.HasPrefix(args[0].Lit(), "-"); args = args[1:] {
			if strings.ContainsAny(args[0].Lit(), "vV") { // command -v only names the command
				return
			}
		}
	}
	e.commandWord(args[0])
	name, _ := static(args[0])
	operands := args[1:]
	switch name {
	case "eval":
		e.code(operands, "code for eval", `Write the command itself, with "${…}" as an argument`)
	case "alias":
		e.code(operands, "code for alias", `Write a function instead: name() { command "${…}" "$@"; }`)
	case "trap":
		if len(operands) > 1 && operands[0].Lit() == "--" {
			operands = operands[1:]
		}
		e.code(operands[:min(1, len(operands))], "code for trap", `Set a variable and let the code expand it: x=${…}; trap 'rm -f "$x"' EXIT`)
	case ".", "source":
		operands = operands[:min(1, len(operands))]
		e.code(operands, "the file that "+name+" runs as code", `Name the file yourself, in the folder that the value names: cd "${…}" && . ./FILE`)
		for _, w := range operands {
			if text, _ := prefix(w); strings.HasPrefix(text, "/dev/") || strings.HasPrefix(text, "/proc/") {
				e.hints(Code, w, "what "+name+" reads from its input", "code", "Write the code itself")
			}
		}
	case "compgen", "complete", "bind":
		e.code(operands, "code for "+name, "Write it without the value")
	case "mapfile", "readarray":
		if i := slices.IndexFunc(operands, func(w *syntax.Word) bool { return w.Lit() == "-C" }); i >= 0 {
			e.code(operands[i+1:min(i+2, len(operands))], "code for "+name, "Write it without the value")
			operands = operands[:i]
		}
		e.names(operands)
	case "[", "test":
		e.test(name, operands)
	case "printf":
		e.format(operands)
	case "wait":
		if i := slices.IndexFunc(operands, func(w *syntax.Word) bool { return w.Lit() == "-p" }); i >= 0 {
			e.names(operands[i+1 : min(i+2, len(operands))])
		}
	case "let":
		for _, w := range operands {
			e.arithmetic(w, w, false)
		}
	case "read", "unset", "export", "readonly", "local", "declare", "typeset", "getopts": // those of DeclClause follow command or builtin here
		e.names(operands)
	}
}

// commandWord reports a variable that names the command. The first word of a template itself is only the name of a program.
func (e *evaluation) commandWord(w *syntax.Word) {
	for _, v := range e.values(w) {
		if v.name != "" && v.leads && (v.bare || !hasText(w.Parts)) {
			e.fail(Command, v, "the command that is run", "Write the command itself, or choose it with case … in … esac")
		}
	}
	if len(w.Parts) == 1 {
		if p, ok := w.Parts[0].(*syntax.ParamExp); ok && !p.Length && p.Param != nil && e.origins[p.Param.Value]&(output|passed) != 0 {
			e.hints(Command, w, "$"+p.Param.Value+", whose words are known only when the command runs,", "the command that is run",
				fmt.Sprintf(`Put it in double quotes: "$%s", the name of a program`, p.Param.Value))
		}
	}
}

// names examines the words of a command that names variables with them.
func (e *evaluation) names(operands []*syntax.Word) {
	for i, w := range operands {
		text, rest := prefix(w)
		switch {
		case strings.HasPrefix(text, "-"), text != "" && !strings.Contains(text, "[") && rest == 0:
		case strings.Contains(text, "=") && !bareExpansion(w): // export "x=$y"
			for _, v := range e.marksIn(w) {
				if v.bare {
					e.variableName(v)
				}
			}
		case text == "" && i > 0 && takesWord(operands[i-1].Lit()) && !bareExpansion(w):
		default:
			e.name(w)
		}
	}
}

// bareExpansion reports whether the shell splits an expansion in a word into further words.
func bareExpansion(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		switch p.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			return true
		}
		return false
	})
}

// takesWord reports whether the word after an option of read is not the name of a variable.
func takesWord(option string) bool {
	return len(option) > 1 && option[0] == '-' && strings.IndexByte("pdtnNui", option[len(option)-1]) >= 0
}

// code reports the values in words that a shell runs, and warns if they are known only when the command runs.
func (e *evaluation) code(words []*syntax.Word, what, suggest string) {
	for _, w := range words {
		found := e.values(w)
		for _, v := range found {
			e.fail(Code, v, what, suggest)
		}
		if len(found) == 0 && e.ofWord(w)&unfixed != 0 {
			e.hints(Code, w, "what is known only when the command runs", what, strings.ReplaceAll(suggest, "${…}", "$x"))
		}
	}
}

// test reports the values in [ ] that can become operators.
func (e *evaluation) test(name string, args []*syntax.Word) {
	operator := false // whether the word before can become -v
	for i, a := range args {
		found := e.marksIn(a)
		follows := i > 0 && (args[i-1].Lit() == "-v" || args[i-1].Lit() == "-R")
		for _, v := range found {
			switch {
			case operator && !v.bare:
				e.fail(Test, v, "behind another value in "+name+", and if that is -v, bash runs code in this one", `Write an operator between them: [ "…" = "…" ]`)
			case v.bare:
				e.fail(Test, v, "unquoted in "+name+", which takes the words of a value as operators, and in bash -v a[…] runs code", `Put it in double quotes: "${…}"`)
			}
		}
		loose := e.ofWord(a)&unfixed != 0
		switch {
		case follows:
			e.name(a)
		case loose && (operator || bareExpansion(a)):
			e.guarded(a, "a value in "+name+" that can become an operator", fmt.Sprintf(`Put it in double quotes, behind an operator: %s "$x" = "$y".`, name))
		}
		operator = loose && e.beginsAs(a, "-v")
	}
}

// format reports a value that printf could take as its option -v and the name of a variable.
func (e *evaluation) format(args []*syntax.Word) {
	for len(args) > 1 && args[0].Lit() == "-v" {
		e.name(args[1])
		args = args[2:] // the next word can be an option again
	}
	if len(args) == 0 || !e.beginsAs(args[0], "-v") {
		return
	}
	for _, v := range e.marksIn(args[0]) {
		if v.bare || len(args) > 1 {
			e.fail(Variable, v, "the format of printf, which takes -va[…] as the name of a variable, in whose subscript bash runs code", `Write a format of your own: printf '%s\n' "${…}"`)
		}
	}
	if e.ofWord(args[0])&unfixed != 0 && (len(args) > 1 || bareExpansion(args[0])) && len(e.marksIn(args[0])) == 0 {
		e.guarded(args[0], "a format of printf that can become -v and a name", `Write a format of your own: printf '%s\n' "$x".`)
	}
}

// beginsAs reports whether the literal beginning of a word with an expansion is nothing, or the beginning of an option.
func (e *evaluation) beginsAs(w *syntax.Word, option string) bool {
	text, rest := prefix(w)
	return rest > 0 && strings.HasPrefix(option, text)
}

// optional reports whether a word is nothing before the value, or the beginning of an option.
func (e *evaluation) optional(w *syntax.Word, v value, option string) bool {
	before := strings.Trim(e.text[w.Pos().Offset():v.at], `"'`)
	return strings.HasPrefix(option, before)
}

const (
	// shells are the programs that run the code that follows their option -c.
	shells = " sh bash dash zsh ksh ash "
	// talking are the programs that do not run their arguments, which can be the names of others.
	talking = " echo printf grep type which test [ "
)

// started reports the values in the code of a shell that the command starts, perhaps through env or the like.
func (e *evaluation) started(args []*syntax.Word) {
	words := texts(args)
	own := len(words) - len(carriedOut(words))
	if own == len(words) || !listed(shells, base(words[own])) || slices.ContainsFunc(words[:own], func(w string) bool { return base(w) == "xargs" }) {
		return
	}
	if w := shellCode(args[own+1:]); w != nil {
		e.code([]*syntax.Word{w}, "in code for "+base(words[own]), shellCure(base(words[own])))
	}
}

func shellCure(name string) string {
	return fmt.Sprintf(`Give it to the code as an argument: %s -c '… "$1" …' %[1]s "${…}"`, name)
}

// shellCode returns the argument of a shell's option -c, or nil if it has none.
func shellCode(args []*syntax.Word) *syntax.Word {
	code := false
	for i := 0; i < len(args); i++ {
		text, rest := prefix(args[i])
		switch {
		case text == "" && rest > 0 && !code && i+1 < len(args): // options that are not known
		case len(text) < 2 || text[0] != '-' && text[0] != '+':
			if code {
				return args[i]
			}
			return nil
		case text == "--" || strings.HasPrefix(text, "--"):
		default:
			code = code || text[0] == '-' && strings.Contains(text, "c")
			if last := text[len(text)-1]; last == 'o' || last == 'O' {
				i++
			}
		}
	}
	return nil
}
