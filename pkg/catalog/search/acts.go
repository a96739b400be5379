package search

import (
	"slices"
	"strings"
)

// act is what a tool does with things, or what a query asks for. A word may stand for several. 0 is unknown.
type act uint8

const (
	reads act = 1 << iota
	creates
	changes
	deletes
	runs
)

// actOf returns the acts for which a stem stands in the name or the description of a tool.
func actOf(stem string) act {
	switch stem {
	case "get", "list", "read", "show", "retriev", "describ", "search", "find", "fetch", "queri", "status", "log", "explain", "view",
		"check", "lookup", "count", "download", "export", "return", "inspect", "monitor", "watch", "brows", "display", "summar", "diff", "compar",
		"calcul", "convert", "analyz", "extract", "captur", "preview", "load", "resolv", "wait", "take":
		return reads
	case "creat", "insert", "post", "send", "upload", "instal", "new", "generat", "regist", "publish", "import", "fork", "copi", "clone",
		"repli", "invit", "schedul", "subscrib", "book", "submit", "commit", "open", "duplic":
		return creates
	case "add", "append", "write", "push", "make", "put", "attach", "appli", "save", "store", "upsert", "record":
		return creates | changes
	case "updat", "edit", "modifi", "patch", "set", "renam", "move", "chang", "upgrad", "scale", "assign", "replac", "resiz", "merg",
		"enabl", "disabl", "mark", "configur", "transit", "reschedul", "rotat", "restor", "restart", "resum", "paus":
		return changes
	case "delet", "remov", "uninstal", "drop", "clear", "cleanup", "purg", "destroy", "revok", "unsubscrib", "leav", "kick", "ban":
		return deletes
	case "close", "stop", "cancel", "archiv", "reset", "unlink", "detach", "kill", "termin", "abort", "delist", "trash":
		return deletes | changes
	case "run", "execut", "exec", "invok", "evalu", "trigger", "click", "press", "type", "call":
		return runs
	}
	return 0
}

// actsOf returns the acts of a tool: those of its name and those of the first sentence of its description.
func actsOf(name, lead string) act { return actsIn(name) | actsIn(lead) }

// actsIn returns the act of the first word that stands for one, and of those that are joined to another word by a comma, "and" or "or".
func actsIn(text string) (all act) {
	joined := false
	for i, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '_' || r == '-' || r == '/' }) {
		word, comma := strings.CutSuffix(field, ",")
		if lower := strings.ToLower(word); lower == "or" || lower == "and" {
			joined = true
			continue
		}
		if all == 0 && i < 4 || joined || comma {
			scan(word, func(_ string, parts []string) bool {
				all |= actOf(stem(parts[0]))
				return false
			})
		}
		joined = comma
	}
	return all
}

// actOfQuery returns the acts that a query asks for. A question asks to read. Otherwise a verb says it: the first word that counts, or
// else one that follows a word such as "to" or "please".
func actOfQuery(words, stems []string) act {
	if len(words) > 1 && asks(words[0]) {
		return reads
	}
	first := true
	for i, w := range words {
		forMe := i+1 < len(words) && (words[i+1] == "me" || words[i+1] == "us")
		if isStopWord(w) || isFiller(w) && (forMe || w != "tell" && w != "give") {
			continue
		}
		participle := strings.HasSuffix(w, "ed") && stems[i] != w
		if (first || beforeVerb(words[i-1])) && !participle {
			if does := askedAct(stems[i], words[i+1:]); does != 0 && (first || does&^reads != 0) {
				return does
			}
		}
		first = false
	}
	return 0
}

// beforeVerb reports whether a verb may follow a word.
func beforeVerb(word string) bool {
	switch word {
	case "to", "and", "then", "please", "should", "must", "can", "could", "will", "would", "shall", "let", "lets", "i", "we", "you", "so", "but", "help", "just", "now":
		return true
	}
	return false
}

// askedAct returns the acts for which a stem stands in a query. Those of some verbs depend on the words after them: "take away", and
// "take this away".
func askedAct(s string, more []string) act {
	has := func(particles ...string) bool {
		return slices.ContainsFunc(more[:min(len(more), 5)], func(w string) bool { return slices.Contains(particles, w) })
	}
	switch s {
	case "get":
		if has("rid") {
			return deletes | changes
		}
		return reads
	case "check":
		if len(more) > 0 && more[0] == "in" {
			return creates | changes
		}
		return reads
	case "bring":
		if has("back", "date", "line") {
			return creates | changes
		}
		return reads | creates | runs
	case "take", "pull", "cut", "tear", "throw", "strike":
		switch {
		case s == "tear" || s == "throw" || s == "strike" || has("away", "out", "down", "off"):
			return deletes | changes
		case s == "cut":
			return creates | changes
		}
		return reads | changes
	case "look", "find", "show", "list", "search", "read", "see", "display", "view", "fetch", "count", "brows", "inspect", "print",
		"export", "download", "load", "retriev", "return", "all", "everi", "everybodi", "everyon", "everyth", "latest", "recent",
		"past", "detail", "inform", "valu", "name", "output", "who", "locat", "hunt", "ani", "cat", "head", "tail", "grep", "stat",
		"whoami", "slurp", "grab", "glob", "queri", "compar", "diff", "explain", "describ", "summari", "summar", "summaris", "lookup",
		"peek", "watch", "monitor", "wait", "convert", "translat", "calcul", "comput", "measur", "estim", "analyz", "analys",
		"extract", "preview", "review", "verifi", "confirm", "test", "catch":
		return reads
	case "save", "captur", "dump", "record", "snapshot", "give":
		return reads | creates | changes
	case "tell", "announc", "notifi", "messag", "repli", "answer", "respond", "share", "begin", "start", "regist", "file",
		"report", "rais", "compos", "draft", "warn", "alert", "ping", "say", "speak", "post", "comment", "thank", "greet",
		"congratul", "ask", "propos", "suggest", "submit", "contribut", "invit", "request", "react", "acknowledg", "add", "make",
		"write", "note", "jot", "keep", "store", "rememb", "memor", "memoris", "learn", "attach", "append", "leav", "connect", "link",
		"tie", "relat", "join", "prepend", "schedul", "book", "plan", "order", "subscrib", "commit", "stage", "mkdir",
		"touch", "bookmark", "label", "tag", "annot", "assign", "appli":
		return creates | changes
	case "put", "set", "creat", "insert", "generat", "new", "fresh", "anoth", "duplic", "copi", "clone", "fork", "instal", "send",
		"open", "launch", "upload", "publish", "deploy", "build", "setup", "establish", "provis", "spawn", "branch", "import",
		"enter", "fill", "complet", "boot", "forward", "expos", "tunnel", "roll", "push", "deliv", "mount",
		"chang", "updat", "edit", "modifi", "renam", "move", "shift", "replac", "substitut", "swap", "reword", "correct", "fix",
		"mark", "tick", "rewrit", "overwrit", "adjust", "patch", "resiz", "alter", "switch", "merg", "land", "approv", "reject",
		"restart", "undo", "revert", "transfer", "hand", "tweak", "bump", "upgrad", "reloc", "reassign", "relabel", "reopen",
		"retitl", "mv", "enabl", "disabl", "activ", "deactiv", "toggl", "turn", "flip", "scale", "increas", "decreas", "reduc",
		"doubl", "halv", "rotat", "restor", "rollback", "reschedul", "postpon", "paus", "resum", "reconnect", "refresh", "renew",
		"repair", "mend", "polish", "reviv", "reorder", "sort", "rearrang", "arrang", "sync", "archiv", "lock", "unlock", "pin",
		"evict", "drain", "cordon", "squash", "integr", "hop", "checkout", "empti", "unstag",
		"run", "execut", "exec", "invok", "evalu", "eval", "trigger", "click", "press", "hit", "tap", "type", "call", "drag",
		"hover", "scroll", "choos", "pick", "select", "accept", "visit", "navig", "go", "play", "point", "perform", "autom", "follow",
		"simul", "pretend", "emul":
		return creates | changes | runs
	case "delet", "remov", "eras", "forget", "drop", "wipe", "clear", "discard", "purg", "uninstal", "destroy", "scrap", "unlink",
		"cancel", "dismiss", "close", "stop", "end", "shut", "kill", "rm", "quit", "exit", "clean", "cleanup", "tidi", "trash",
		"nuke", "unsubscrib", "revok", "withdraw", "termin", "abort", "halt", "detach", "disconnect", "expung", "elimin", "finish",
		"kick", "ban", "expel":
		return deletes | changes
	}
	return 0
}
