package shell

import "strings"

// builtins are the first words that a shell handles itself: POSIX's special and regular built-ins, reserved words, and
// those of dash and bash.
const builtins = " . : [ alias bg bind break builtin caller case cd chdir command compgen complete compopt continue coproc declare dirs disown do done " +
	"echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help history if in jobs kill let local " +
	"logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source suspend test then time times " +
	"trap true type typeset ulimit umask unalias unset until wait while "

// syntaxWords are the first words that change how a shell parses what follows, or that not all shells parse alike.
const syntaxWords = " case coproc declare do done elif else esac export fi for function if in let local nameref readonly select then time " +
	"typeset until while "

// simple reports whether a command consists only of words without a special meaning for any shell. All shells parse it alike, so it
// need not be parsed here.
func simple(command string) bool {
	for i := range len(command) {
		if !inWord(command[i]) {
			return false
		}
	}
	first, _, _ := strings.Cut(strings.TrimLeft(command, " "), " ")
	return first != "" && !assigns(first) && !strings.Contains(syntaxWords, " "+first+" ")
}

// inWord reports whether a character is a space or has no special meaning for a shell inside a word.
func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_./:=,@%+- ", c) >= 0
}

// Direct splits a command without shell syntax into words, so that it can be executed without a shell. It returns false
// for a command with shell syntax, and for one that begins with a built-in, a reserved word or an assignment.
func Direct(command string) (words []string, ok bool) {
	for i := range len(command) {
		if !inWord(command[i]) {
			return nil, false
		}
	}
	words = strings.Fields(command)
	if len(words) == 0 || assigns(words[0]) {
		return nil, false
	}
	first := words[0]
	return words, strings.Contains(first, "/") || !strings.Contains(builtins, " "+first+" ")
}

// assigns reports whether a word without quotes and brackets is an assignment.
func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	name = strings.TrimSuffix(name, "+") // bash's +=
	return ok && name != "" && shellName(name) == name
}
