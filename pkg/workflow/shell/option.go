package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// optioned is a program that can be made to run other programs by its options.
type optioned struct {
	name     string
	valued   string // the letters of the options that a value follows
	operands int    // the number of operands that end the options, 0 if none do
	form     string // what to write instead; by default to put -- before the value
}

var optionedPrograms = []optioned{
	{name: "tar", valued: "fCTXbgIKLNVFH"},
	{name: "ssh", valued: "bcDEeFIiJLlmOopQRSWw", operands: 2},
	{name: "make", valued: "CfIloWjE"},
	{name: "env", valued: "uCS", operands: 1},
	{name: "git", valued: "CcmbBnoFSGLj", form: "Put -- before it, or --end-of-options if it is a revision"},
	{name: "find", operands: -1, form: `Write cd "${…}" && find . …`},
	{name: "xargs", valued: "adEIiLlnPs", operands: 1},
	{name: "rsync", valued: "efBTM"},
	{name: "scp", valued: "PioFcSlJDX"},
	{name: "curl", valued: "AbcCdDeEFHKmoPQrtTuUwxXyYz"},
}

// flags are long options of these programs that no value follows. Any other is taken for one that a value follows.
const flags = " --silent --show-error --fail --location --compressed --insecure --include --head --verbose --quiet --progress-bar --remote-name --bare --mirror --all --tags " +
	"--force --recursive --recurse-submodules --single-branch --no-checkout --prune --cached --staged --stat --oneline --name-only --archive --delete --compress --checksum " +
	"--dry-run --partial --progress --create --extract --list --gzip --xz --zstd --null --no-run-if-empty --always-make --keep-going --no-pager --ignore-environment --verify "

// options warns of values that begin a word where a program reads its options.
func (e *evaluation) options(args []*syntax.Word) {
	words := texts(args)
	own := len(words) - len(carriedOut(words))
	for i, word := range words[:min(own+1, len(words))] {
		if j := slices.IndexFunc(optionedPrograms, func(p optioned) bool { return p.name == base(word) }); j >= 0 {
			e.optionsOf(&optionedPrograms[j], args[i+1:])
		}
	}
}

func (e *evaluation) optionsOf(p *optioned, args []*syntax.Word) {
	operands := 0
	for i, a := range args {
		text, rest := prefix(a)
		option := ""
		if i > 0 {
			option = args[i-1].Lit()
		}
		if i == 1 && p.name == "tar" && !strings.HasPrefix(option, "-") { // tar xzf FILE
			option = "-" + option
		}
		switch {
		case text == "--" && rest == 0, p.operands > 0 && operands == p.operands:
			return
		case p.operands < 0 && strings.HasPrefix(text, "-") && !listed(" -H -L -P ", text): // what follows belongs to a test of find's
			return
		case p.followedByValue(option), strings.HasPrefix(text, "-"):
			continue
		}
		for _, v := range e.values(a)[:min(1, len(e.values(a)))] {
			if e.optional(a, v, "") {
				form := p.form
				if form == "" {
					form = "Put -- before it"
				}
				e.warn(Option, v, "where "+p.name+" reads options: a value that begins with - would be one", form)
			}
		}
		if p.name != "env" || !strings.Contains(text, "=") {
			operands++
		}
	}
}

// followedByValue reports whether a word is an option that the next word belongs to.
func (p *optioned) followedByValue(option string) bool {
	if strings.HasPrefix(option, "--") {
		return !strings.Contains(option, "=") && !listed(flags, option)
	}
	return len(option) > 1 && option[0] == '-' && strings.IndexByte(p.valued, option[len(option)-1]) >= 0
}
