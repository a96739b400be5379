package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call looks at a simple command, and gives what it prints.
func (f *flow) call(args []*syntax.Word, in trace, document *syntax.Word) trace {
	if len(args) == 0 {
		return trace{}
	}
	if t := f.unquoted(args[0], false); t.found() {
		f.fail(t, "unquoted as a command's name, so that its words are a command", `Put it in double quotes, so that it is one word: "${…}"`)
	}
	if t := f.word(args[0]); t.found() && !hasText(args[0].Parts) {
		if given := f.words(args[1:]); given.found() {
			f.caution(t, "as the name of a command that is given "+f.expr(given)+": if it is eval or sh, that is run as code", "Choose among the commands that you mean: case … in … esac")
		}
	}
	f.choosing(args)
	printed := f.run(args, in, document)
	for _, words := range f.alternatives(args) {
		if len(words) > 0 {
			printed = first(printed, f.run(words, in, document))
		}
	}
	return printed
}

// run looks at what a simple command does, and gives what it prints.
func (f *flow) run(args []*syntax.Word, in trace, document *syntax.Word) trace {
	bare := args
	for len(bare) > 1 && listed(" command builtin ", bare[0].Lit()) {
		bare = bare[1:]
	}
	name, _ := static(bare[0])
	f.builtin(name, bare[1:], in)
	for i, a := range bare[1:] {
		if started, _ := static(a); listed(leading, base(name)) && listed(" env tee cp mv ln install dd ", base(started)) {
			f.builtin(base(started), bare[i+2:], in)
		}
	}
	printed := f.handed(bare, in, document)
	f.programs(bare, in)
	f.commanded(bare)
	f.optional(bare)
	f.forward(bare)
	if f.function[name] {
		f.hold(positional, f.words(bare[1:]))
		f.passed(name, bare[1:], in)
		f.learn(f.fed, name, in)
		return first(f.says[name], printed)
	}
	return first(printed, f.printed(bare, in))
}

// builtin looks at what the built-in commands evaluate.
func (f *flow) builtin(name string, args []*syntax.Word, in trace) {
	switch name {
	case "env", "sudo", "doas":
		for _, a := range args {
			f.set(assignedName(&syntax.Assign{Value: a}), f.word(a))
		}
	case "tee":
		for _, a := range args {
			f.write(a, in)
		}
	case "dd":
		for _, a := range args {
			if text, ok := static(a); ok && strings.HasPrefix(text, "of=") {
				f.learn(f.written, path.Clean(text[len("of="):]), in)
			}
		}
	case "cp", "mv", "ln", "install":
		f.copied(args)
	case "set":
		f.hold(positional, f.words(args))
		f.passed(f.body, args, in)
	case "[", "test":
		f.test(args)
	case "printf":
		f.format(args)
	case "read", "mapfile", "readarray":
		f.read(name, args, in)
	case "unset":
		f.name(f.words(args))
	case "getopts":
		if len(args) > 1 {
			f.name(f.word(args[1]))
		}
	case "wait":
		for i, a := range args {
			if t := f.unquoted(a, true); t.found() {
				f.name(t)
			} else if i > 0 && args[i-1].Lit() == "-p" {
				f.name(f.word(a))
			}
		}
	case "let":
		t := f.words(args)
		f.fail(t, inArithmetic, f.checked(t))
	case "export", "readonly", "local", "declare", "typeset": // behind command, where they are no keywords
		for _, a := range args {
			if name := assignedName(&syntax.Assign{Value: a}); name != "" {
				f.set(name, f.word(a))
			} else {
				f.name(f.word(a))
			}
		}
	}
}

// test looks at [ ]. In bash the value -v, or several words out of one value, make a test that evaluates a name.
func (f *flow) test(args []*syntax.Word) {
	before := trace{}
	for i, a := range args {
		if t := f.unquoted(a, true); t.found() {
			f.fail(t, "unquoted in [ ], where bash runs code that is in the words of a value, as in -v a[$(…)]", `Put it in double quotes: "${…}"`)
			before = trace{}
			continue
		}
		t := f.word(a)
		if i > 0 && t.found() {
			if option := args[i-1].Lit(); option == "-v" || option == "-R" {
				f.name(t)
			} else if before.found() {
				f.fail(t, "in [ ] behind another value, which if it is -v makes bash run code in this one", `Write the operator between them: [ "…" = "…" ]`)
			}
		}
		if text, _ := prefix(a); !strings.HasPrefix("-v", text) {
			t = trace{}
		}
		before = t
	}
}

// format looks at printf, whose first word may be the option -v with a name.
func (f *flow) format(args []*syntax.Word) {
	if len(args) == 0 {
		return
	}
	if args[0].Lit() == "-v" && len(args) > 1 {
		if !f.name(f.word(args[1])) {
			f.set(args[1].Lit(), f.words(args[2:]))
		}
		return
	}
	t := f.word(args[0])
	text, _ := prefix(args[0])
	split := f.unquoted(args[0], true)
	if t.found() && (split.found() && text == "" || len(args) > 1 && (text == "" || strings.HasPrefix(text, "-"))) {
		f.fail(t, "as the format of printf, which takes -v a[$(…)] for the name of a variable, and bash runs the code in that",
			`Write a format of your own: printf '%s\n' "${…}"`)
	}
}

// read looks at what sets variables from standard input.
func (f *flow) read(by string, args []*syntax.Word, in trace) {
	named := false
	for i, a := range args {
		text, ok := static(a)
		if ok {
			if shellName(text) == text && text != "" {
				f.set(text, in)
				named = true
			}
			continue
		}
		option := ""
		if i > 0 {
			option = args[i-1].Lit()
		}
		given := len(option) > 1 && option[0] == '-' && strings.ContainsAny(option[len(option)-1:], "pdtnNui") || strings.HasPrefix(text, "-")
		if t := f.unquoted(a, true); t.found() || !given || by != "read" {
			f.name(first(t, f.word(a)))
		}
	}
	if !named {
		f.set("REPLY", in)
		f.set("MAPFILE", in)
	}
}
