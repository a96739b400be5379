package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// How far commands that are not written out are followed: the constants of a variable, the commands that a function makes
// of its arguments, and the arguments that such a command may begin at.
const (
	maxConstants = 4
	maxForwards  = 4
	maxShifted   = 16
)

// constant notes a text that a variable is set to. Text that has more than plain words is not followed.
func (f *flow) constant(name string, value *syntax.Word) {
	text, ok := static(value)
	switch known := f.constants[name]; {
	case name == "" || ok && slices.Contains(known, text):
	case !ok, len(known) == maxConstants, strings.Trim(text, direct+" ") != "":
		f.mark(f.computed, name)
	default:
		f.constants[name] = append(known, text)
		f.changed = true
	}
}

// alternatives are the commands that a command also is, when variables hold the constants that they are set to.
func (f *flow) alternatives(args []*syntax.Word) (all [][]*syntax.Word) {
	var rest []*syntax.Word
	changed := false
	for _, a := range args[1:] {
		if name := plainVariable(a); len(f.constants[name]) == 1 && !f.variable(name).found() {
			rest, changed = append(rest, fields(a, f.constants[name][0])...), true
		} else {
			rest = append(rest, a)
		}
	}
	for _, value := range slices.Concat(f.constants[plainVariable(args[0])], fallback(args[0])) {
		all = append(all, slices.Concat(fields(args[0], value), rest))
	}
	if len(all) == 0 && changed {
		all = append(all, slices.Concat(args[:1], rest))
	}
	return all
}

// fallback is the text that a word of the form ${x:-text} is when x is not set.
func fallback(w *syntax.Word) []string {
	if len(w.Parts) != 1 {
		return nil
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	if p, ok := part.(*syntax.ParamExp); ok && p.Exp != nil && p.Exp.Op >= syntax.AlternateUnset && p.Exp.Op <= syntax.AssignUnsetOrNull {
		if text, ok := static(p.Exp.Word); ok {
			return []string{text}
		}
	}
	return nil
}

// fields are the words that come of a word which is a variable with that value.
func fields(w *syntax.Word, value string) (words []*syntax.Word) {
	texts := []string{value}
	if _, quoted := w.Parts[0].(*syntax.DblQuoted); !quoted {
		texts = strings.Fields(value)
	}
	for _, text := range texts {
		words = append(words, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}})
	}
	return words
}

// choosing warns of a value that is given to a command whose name the shell computes.
func (f *flow) choosing(args []*syntax.Word) {
	name := plainVariable(args[0])
	_, substituted := args[0].Parts[0].(*syntax.CmdSubst)
	if substituted = substituted && len(args[0].Parts) == 1; substituted {
		name = "(…)"
	}
	if (substituted || f.computed[name]) && !f.word(args[0]).found() {
		f.caution(f.words(args[1:]), "among the arguments of the command $"+name+": if that is eval or sh, the value is run as code", "Choose among the commands that you mean: case … in … esac")
	}
}

// forward notes that the function at hand, or the code at hand that is given to a shell, makes a command of its
// positional parameters: of them alone, or behind words that start a command.
func (f *flow) forward(args []*syntax.Word) {
	i := slices.IndexFunc(args, func(w *syntax.Word) bool { return isPositional(plainVariable(w)) })
	if i < 0 {
		return
	}
	name, _ := static(args[0])
	for _, before := range f.forwards[name] {
		if f.function[name] {
			f.forwarded(f.body, before)
		}
	}
	if i == 0 || listed(shells+carriers, base(name)) {
		f.forwarded(f.body, args[:i])
	}
}

func isPositional(name string) bool {
	return name == "@" || name == "*" || name != "" && name[0] >= '0' && name[0] <= '9'
}

func (f *flow) forwarded(body string, before []*syntax.Word) {
	known := f.forwards[body]
	if len(known) < maxForwards && !slices.ContainsFunc(known, func(k []*syntax.Word) bool { return slices.Equal(k, before) }) {
		f.forwards[body] = append(known, before)
		f.changed = true
	}
}

// passed looks at the commands that a function, or other code, makes of the arguments that it is given.
func (f *flow) passed(body string, given []*syntax.Word, in trace) {
	for _, before := range f.forwards[body] {
		for i := range min(len(given), maxShifted) {
			first, _ := static(given[i])
			if len(before) > 0 && (i == 0 || first != "") || listed(running+shells+carriers+reading+withOption+joining, base(first)) {
				f.handed(slices.Concat(before, given[i:]), in, nil)
			}
		}
	}
}
