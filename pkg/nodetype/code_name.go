package nodetype

import (
	"slices"
	"strings"
)

// CodeName says why an input of a code node cannot have a name in a language, in words that follow the name, and what to
// do; both are empty when it can.
func CodeName(language, name string) (why, next string) {
	what := map[string]string{"node": "JavaScript", "bash": "bash"}[language]
	if what == "" {
		what = "Python"
	}
	switch {
	case !identifier(name, language == "node"):
		return "cannot be a variable of " + what, "Use letters, digits and _ alone, such as " + identifierOf(name)
	case name == "result", name == "next":
		return "has the name of what the code gives back", "Give it another name, such as " + name + "_in"
	case slices.Contains(strings.Fields(keywords(language)), name), language == "bash" && reservedInBash(name):
		return "has a name that " + what + " keeps for itself", "Give it another name, such as " + name + "_"
	}
	return "", ""
}

// identifier says whether a name has letters, digits and _ alone, and begins with no digit.
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

// keywords are the words of a language that can name no variable.
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

// reservedInBash says whether bash, or what runs the code in it, has variables of such names.
func reservedInBash(name string) bool {
	return strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "COMP_") || strings.HasPrefix(name, "EPOCH") || strings.HasPrefix(name, "__pflow")
}
