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
	for _, v := range e.values(args[0]) {
		if v.name != "" && v.leads && (v.bare || !hasText(args[0].Parts)) {
			e.fail(Command, v, "the command that is run", "Write the command itself, or choose it with case … in … esac")
		}
	}
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
		e.code(operands[:min(1, len(operands))], "the file that "+name+" runs as code", `Name the file yourself, in the folder that the value names: cd "${…}" && . ./FILE`)
	case "compgen", "complete", "bind":
		e.code(operands, "code for "+name, "Write it without the value")
	case "mapfile", "readarray":
		if i := slices.IndexFunc(operands, func(w *syntax.Word) bool { return w.Lit() == "-C" }); i >= 0 {
			e.code(operands[i+1:min(i+2, len(operands))], "code for "+name, "Write it without the value")
		}
	case "[", "test":
		e.test(name, operands)
	case "printf":
		e.format(operands)
	case "let":
		for _, w := range operands {
			for _, v := range e.values(w) {
				e.arithmeticValue(v)
			}
		}
	case "read", "unset", "export", "readonly", "local", "declare", "typeset": // those of DeclClause follow command or builtin here
		for i, w := range operands {
			text, _ := prefix(w)
			named := text == "" && (i == 0 || !takesWord(operands[i-1].Lit())) || strings.Contains(text, "[")
			for _, v := range e.values(w) {
				if named || v.bare { // the words of a value can be further names
					e.variableName(v)
				}
			}
		}
	}
}

// takesWord reports whether the word after an option of read is not the name of a variable.
func takesWord(option string) bool {
	return len(option) > 1 && option[0] == '-' && strings.IndexByte("pdtnNui", option[len(option)-1]) >= 0
}

func (e *evaluation) code(words []*syntax.Word, what, suggest string) {
	for _, w := range words {
		for _, v := range e.values(w) {
			e.fail(Code, v, what, suggest)
		}
	}
}

// test reports the values in [ ] that can become operators.
func (e *evaluation) test(name string, args []*syntax.Word) {
	operator := false // whether the word before can become -v
	for i, a := range args {
		found := e.values(a)
		for _, v := range found {
			switch {
			case operator && !v.bare:
				e.fail(Test, v, "behind another value in "+name+", and if that is -v, bash runs code in this one", `Write an operator between them: [ "…" = "…" ]`)
			case v.bare:
				e.fail(Test, v, "unquoted in "+name+", which takes the words of a value as operators, and in bash -v a[…] runs code", `Put it in double quotes: "${…}"`)
			case i > 0 && (args[i-1].Lit() == "-v" || args[i-1].Lit() == "-R"):
				e.variableName(v)
			}
		}
		operator = len(found) > 0 && e.optional(a, found[0], "-v")
	}
}

// format reports a value that printf could take as its option -v and the name of a variable.
func (e *evaluation) format(args []*syntax.Word) {
	for i, a := range args[:min(2, len(args))] {
		for _, v := range e.values(a) {
			switch {
			case i == 1 && args[0].Lit() == "-v":
				e.variableName(v)
			case i == 0 && (v.bare || len(args) > 1) && e.optional(a, v, "-v"):
				e.fail(Variable, v, "the format of printf, which takes -va[…] as the name of a variable, in whose subscript bash runs code", `Write a format of your own: printf '%s\n' "${…}"`)
			}
		}
	}
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
