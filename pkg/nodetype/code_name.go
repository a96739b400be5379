package nodetype

import (
	"slices"
	"strings"
)

// CodeName returns why an input of a code node in a language cannot have a name, as words that follow the name, and what to do.
// Both are empty if it can.
func CodeName(language, name string) (why, next string) {
	what := map[string]string{"node": "JavaScript", "bash": "bash"}[language]
	if what == "" {
		what = "Python"
	}
	switch {
	case !identifier(name, language == "node"):
		return "cannot be a variable of " + what, "Use only letters, digits and _, such as " + identifierOf(name)
	case name == "result", name == "next":
		return "has the name of a variable that the code sets", "Give it another name, such as " + name + "_in"
	case slices.Contains(strings.Fields(keywords(language)), name), language == "bash" && reservedInBash(name):
		return "is reserved in " + what, "Give it another name, such as " + name + "_"
	}
	return "", ""
}

// identifier reports whether a name has only letters, digits and _ (and $ if dollar is true), and does not begin with a digit.
func identifier(name string, dollar bool) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || dollar && r == '$'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

func identifierOf(name string) string {
	near := strings.Map(func(r rune) rune {
		if identifier("_"+string(r), false) {
			return r
		}
		return '_'
	}, name)
	if identifier(near, false) {
		return near
	}
	return "_" + near
}

// keywords returns the words that cannot be variables in a language, separated by spaces.
func keywords(language string) string {
	switch language {
	case "node":
		return "arguments await break case catch class const continue debugger default delete do else enum eval export extends false " +
			"finally for function if implements import in instanceof interface let new null package private protected public " +
			"require return static super switch this throw true try typeof var void while with yield"
	case "bash":
		return "_ DIRSTACK EUID FUNCNAME GROUPS IFS LINENO OLDPWD OPTARG OPTERR OPTIND PATH PIPESTATUS PPID PWD RANDOM SECONDS SHELLOPTS SRANDOM UID"
	}
	return "False None True and as assert async await break class continue def del elif else except finally for from global if " +
		"import in is lambda nonlocal not or pass raise return try while with yield"
}

// reservedInBash reports whether bash, or the code around the user's, has variables with such names.
func reservedInBash(name string) bool {
	return strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "COMP_") || strings.HasPrefix(name, "EPOCH") || strings.HasPrefix(name, "__pflow")
}
