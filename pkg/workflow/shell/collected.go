package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// collected reports whether xargs makes arguments of what it reads, and looks at whether it makes code of it.
func (f *flow) collected(args []*syntax.Word, in trace, h hand) bool {
	i := slices.IndexFunc(args, func(w *syntax.Word) bool { return base(w.Lit()) == "xargs" })
	if i < 0 || !in.found() {
		return false
	}
	if h.own && len(h.code) == 0 && h.file == nil && !h.reads || carriesNothing(args[i+1:]) {
		f.fail(in, "in the input of xargs, which makes a command of it", `Let xargs give it to code as an argument: xargs -n 1 sh -c '… "$1" …' sh`)
	}
	if !h.own {
		return false
	}
	replaced := ""
	for j, a := range args[i+1:] {
		switch text, _ := static(a); {
		case text == "-I" && i+j+2 < len(args):
			replaced, _ = static(args[i+j+2])
		case strings.HasPrefix(text, "-I"), strings.HasPrefix(text, "-i") && replaced == "":
			if replaced = text[2:]; replaced == "" {
				replaced = "{}"
			}
		}
	}
	for _, w := range h.code {
		if text, ok := static(w); ok && replaced != "" && strings.Contains(text, replaced) {
			f.fail(in, "in the input of xargs, which puts it into code that is given to "+h.by, `Let xargs give it to the code as an argument: xargs -n 1 sh -c '… "$1" …' sh`)
		}
	}
	return true
}

// carriesNothing reports whether the command of xargs starts another command and does not say which.
func carriesNothing(args []*syntax.Word) bool {
	carried := false
	for i, a := range args {
		text, _ := prefix(a)
		name := base(text)
		switch {
		case listed(leading, name), carried && listed(" -u -g -n -k -s ", text):
			carried = true
		case strings.HasPrefix(text, "-"), strings.Contains(text, "="), text != "" && text[0] >= '0' && text[0] <= '9':
		case i > 0 && listed(" -I -d -E -a -u -g -s -k ", args[i-1].Lit()):
		default:
			return false
		}
	}
	return carried
}
