package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The commands that run code which they are given, and those that run other commands.
const (
	shells     = " sh bash dash zsh ksh ash "
	withOption = " su runuser script flock "            // what follows their option -c
	reading    = " su runuser at batch crontab "        // what they read
	joining    = " watch parallel "                     // their arguments
	running    = " eval trap alias "                    // the same, in the shell itself
	completing = " compgen complete bind "              // the same, in bash alone
	talking    = " echo printf grep type which test [ " // none, though an argument may be the word sh
	carriers   = leading + " su runuser flock busybox chroot unshare nsenter systemd-run xargs find docker podman kubectl nerdctl lxc ssh sshpass "
)

// hand is what a command gives to a shell to be run as code.
type hand struct {
	by         string
	code       []*syntax.Word
	positional []*syntax.Word // $0 and so on of a shell of its own
	own        bool
	reads      bool         // what comes on standard input is code
	file       *syntax.Word // what is in it is code
}

// handOver finds the code among a command's words.
func handOver(args []*syntax.Word) hand {
	if len(args) == 0 {
		return hand{}
	}
	carrier, _ := static(args[0])
	if listed(talking, base(carrier)) {
		return hand{}
	}
	for i, a := range args {
		text, _ := static(a)
		name, rest := base(text), args[i+1:]
		carried := i == 0 || listed(carriers, base(carrier))
		switch {
		case i == 0 && (listed(running, name) || listed(completing, name)):
			if name == "trap" {
				for len(rest) > 0 && rest[0].Lit() == "--" {
					rest = rest[1:]
				}
				rest = rest[:min(1, len(rest))]
			}
			return hand{by: name, code: rest}
		case carried && listed(joining, name):
			for j, b := range rest {
				if strings.HasPrefix(b.Lit(), ":::") { // the items of parallel, which quotes them
					rest = rest[:j]
					break
				}
			}
			return hand{by: name, code: rest, own: true, reads: name == "parallel" && len(rest) == 0}
		case carried && (listed(withOption, name) || listed(reading, name)):
			for j, b := range rest {
				if lit := b.Lit(); lit == "--command" || len(lit) > 1 && lit[0] == '-' && lit[1] != '-' && lit[len(lit)-1] == 'c' {
					return hand{by: name, code: rest[j+1 : min(j+2, len(rest))], own: true}
				}
			}
			if listed(reading, name) {
				return hand{by: name, reads: true, own: true}
			}
		case carried && name == "env" && len(splitString(rest)) > 0:
			return hand{by: "env -S", code: splitString(rest), own: true}
		case listed(shells, name):
			h := shellArguments(rest)
			h.by, h.reads = name, h.reads && carried
			return h
		}
	}
	return hand{}
}

// splitString finds among the arguments of env the text that its option -S makes a command of, and what follows, which
// is part of that command.
func splitString(args []*syntax.Word) []*syntax.Word {
	for i, a := range args {
		text, _ := prefix(a)
		option, _, joined := strings.Cut(text, "=")
		switch {
		case option == "--split-string" && joined:
			return args[i:]
		case option == "--split-string", len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.HasSuffix(text, "S"):
			if word, ok := static(a); ok && word == text {
				return args[min(i+1, len(args)):]
			}
			return args[i:]
		case len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.Contains(text, "S"):
			return args[i:]
		case !strings.HasPrefix(text, "-") && !joined:
			return nil
		}
	}
	return nil
}

// shellArguments reads the arguments of sh.
func shellArguments(args []*syntax.Word) hand {
	code, reads := false, false
	for i := 0; i < len(args); i++ {
		text, rest := prefix(args[i])
		switch {
		case rest == 0 && (text == "-" || text == "--"):
			i++
		case rest == 0 && strings.HasPrefix(text, "--"):
			continue
		case len(text) > 1 && (text[0] == '-' || text[0] == '+'):
			code = code || text[0] == '-' && strings.Contains(text, "c")
			reads = reads || text[0] == '-' && strings.Contains(text, "s")
			if last := text[len(text)-1]; last == 'o' || last == 'O' {
				i++
			}
			continue
		case rest > 0 && text == "" && !code && hasCode(args[i+1:]): // options that cannot be told
			continue
		}
		switch {
		case i >= len(args):
			return hand{own: true, reads: !code}
		case code:
			return hand{own: true, code: args[i : i+1], positional: args[i+1:]}
		case isStdin(args[i]):
			return hand{own: true, reads: true, positional: args[i+1:]}
		case reads:
			return hand{own: true, reads: true, positional: args[i:]}
		}
		return hand{own: true, file: args[i]}
	}
	return hand{own: true, reads: !code}
}

func hasCode(args []*syntax.Word) bool {
	for _, a := range args {
		if text := a.Lit(); len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.HasSuffix(text, "c") {
			return true
		}
	}
	return false
}

// handed looks at the code that a command gives to a shell, and gives what that prints.
func (f *flow) handed(args []*syntax.Word, in trace, document *syntax.Word) trace {
	h := handOver(args)
	f.sourced(args, in, h)
	given := f.words(h.positional)
	if f.collected(args, in, h) {
		given = first(given, in)
	}
	if t := f.words(h.code); t.found() {
		f.fail(t, "in code that is given to "+h.by+", which runs it", codeForms[formOf(h)])
		return t
	}
	if h.reads && in.found() {
		form := codeForms["other"]
		if listed(shells, h.by) {
			form = codeForms["reads"]
		}
		f.fail(in, "in what "+h.by+" reads and runs as code", form)
		return in
	}
	if h.reads && document != nil {
		return f.code(document, document.Lit(), h.own, given, trace{})
	}
	var texts []string
	for _, w := range h.code {
		text, ok := static(w)
		if !ok {
			return trace{}
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 || h.by == "alias" {
		return trace{}
	}
	text := strings.Join(texts, " ")
	t := f.code(h.code[0], text, h.own, given, in)
	if h.own {
		f.passed(text, h.positional, in)
	}
	return t
}

// codeForms say what to write instead of code with a template in it, in which ${…} stands for that.
var codeForms = map[string]string{
	"shell": `Give it to the code as an argument: sh -c '… "$1" …' sh "${…}"`,
	"reads": `Give it to the code as an argument: sh -s -- "${…}" <<'EOF', and "$1" in the code`,
	"eval":  `Write the command itself, with "${…}" as an argument`,
	"trap":  `Set a variable and let the code expand it: x=${…}; trap 'rm -f "$x"' EXIT`,
	"alias": `Write a function instead: name() { command "${…}" "$@"; }`,
	"other": `Set a variable and let the code expand it: export x=${…}, and "$x" in the code, in single quotes`,
}

func formOf(h hand) string {
	switch {
	case listed(shells, h.by):
		return "shell"
	case listed(running, h.by):
		return h.by
	}
	return "other"
}

// sourced looks at files that are run.
func (f *flow) sourced(args []*syntax.Word, in trace, h hand) {
	file := h.file
	if name := args[0].Lit(); name == "." || name == "source" {
		if len(args) < 2 {
			return
		}
		file = args[1]
		t := f.substituted(file)
		if isStdin(file) {
			t = in
		}
		f.fail(t, "in what the shell reads and runs as code", codeForms["reads"])
	} else if strings.Contains(name, "/") {
		file = args[0]
	}
	if file != nil && !hasText(file.Parts) && !isPositional(plainVariable(file)) { // which of "$@" is the file is not known
		f.caution(f.word(file), "as the name of a file that is run as code", "Run a file of your own, or choose among those that you mean: case … in … esac")
	}
	if name := fileName(file); name != "" && !isStdin(file) {
		f.fail(f.written[name], "in the file "+name+", which is written and then run as code", `Let the file expand its arguments, "$1", and give it the value: sh FILE "${…}"`)
	}
}

func isStdin(file *syntax.Word) bool {
	name, _ := static(file)
	return listed(" /dev/stdin /dev/fd/0 /proc/self/fd/0 ", name)
}

// code goes through code that stands in a word and is run, and gives what it prints. A shell of its own has positional
// parameters of its own, which hold what is given.
func (f *flow) code(key *syntax.Word, text string, own bool, given, in trace) trace {
	if f.foreign == maxForeign {
		return trace{}
	}
	file, known := f.codes[key]
	if !known {
		file, _ = parse(text, syntax.LangBash) // what is no code for bash is none for others
		f.codes[key] = file
	}
	if file == nil {
		return trace{}
	}
	if own {
		outer, body := f.held[positional], f.body
		defer func() { f.held[positional], f.body = outer, body }()
		f.held[positional], f.body = given, text
	}
	f.foreign++
	defer func() { f.foreign-- }()
	return f.stmts(file.Stmts, in)
}
