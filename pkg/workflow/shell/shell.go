// Package shell finds where a template stands in a shell command and renders it there, so that a value can never become
// code: the value travels in an environment variable, and what stands in the command is a reference to it that the
// shell expands after it has parsed. A template thus behaves as the shell variable that holds its value would.
//
// A command is read in the POSIX dialect and in bash's, for /bin/sh may be either. A template about whose place they
// differ is an error, and so is one, or a variable set from one, where a shell takes text for code once more.
package shell

import (
	"fmt"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Options say what a command's ${…} may mean.
type Options struct {
	// Known says which names templates may begin with: inputs, nodes and aliases.
	Known func(root string) bool
	// Own are the variables that the node's env sets.
	Own []string
	// Tainted are those of the node's env whose values hold templates, so that they must not become code either.
	Tainted []string
	// StdinTainted says that a template gives the standard input of the command.
	StdinTainted bool
	// Unsafe pastes values into the command as they are, so that they can be code.
	Unsafe bool
}

// Script is a command with its templates made references to variables.
type Script struct {
	// Command is what the shell is given; of an unsafe script with templates, what the author wrote. It is empty when
	// there is an error among the problems.
	Command string
	// Vars are the templates in the order of their places. One in a comment is not among them.
	Vars []Var

	pieces []string // of an unsafe script: the text before, between and after the values
}

// Var is one template and the variable that carries its value.
type Var struct {
	// Name is the variable's; empty in an unsafe script.
	Name string
	Expr template.Expr
	// Integer says that the template stands in arithmetic, where only an integer may stand: see Accepts.
	Integer bool
}

// Problem is a template, or a variable or standard input with one in it, that stands where no value may stand, a name that
// is neither a template nor the shell's, or a command that would destroy the system.
type Problem struct {
	Message string
	Suggest string
	// Name is the root in question, when the problem is that nothing has this name.
	Name string
	// Warning says that the command can be run all the same.
	Warning bool
	// Dangerous says that the command is refused for what it would destroy.
	Dangerous bool
	// Offset is where in the command, as it was written, the template in question stands; -1 when it is not known.
	Offset int
}

// Parse renders a command. A ${…} in it is a template if it begins with a known name. Otherwise it is the shell's own
// when the command or the node's env sets the variable, or when no template has its form, as ${name:-x} has none; and it
// is a problem when it is neither. There is always a script, but one with an error among its problems cannot be run.
func Parse(command string, o Options) (*Script, []Problem) {
	given := !o.Unsafe && (len(o.Tainted) > 0 || o.StdinTainted)
	if !given && !strings.Contains(command, "${") {
		if what, at := dangerous(command, nil, 0); what != "" {
			p := refused(what)
			p.Offset = int(at)
			return &Script{}, []Problem{p}
		}
		return &Script{Command: command}, nil
	}
	if len(command) > MaxVariable {
		return &Script{}, []Problem{{Offset: -1, Message: fmt.Sprintf("the command has %d bytes, and the system takes at most %d", len(command), MaxVariable),
			Suggest: `Put it into a script file, or give what is long in it to the command as standard input ("stdin")`}}
	}
	d := newDraft(command, o)
	if what, at := dangerous(d.text, nil, 0); what != "" {
		p := refused(what)
		p.Offset = d.original(at)
		d.add(p)
	}
	if !given && len(d.marks) == 0 && len(d.doubts) == 0 {
		return d.script()
	}
	safe := (given || len(d.marks) > 0) && !o.Unsafe
	if nesting(d.text) > maxNesting {
		if safe {
			d.add(Problem{Offset: -1, Message: fmt.Sprintf("the command has brackets in brackets more than %d deep", maxNesting), Suggest: "Put what is in them into a script file, and call that"})
		}
		return d.script()
	}
	file, err := parse(d.text, syntax.LangBash)
	switch {
	case err == nil:
		d.settle(file)
		switch {
		case safe && len(d.marks) > 0: // not all in comments
			d.locate(file)
		case given:
			d.follow(file)
		}
	case safe:
		d.unreadable(err)
	default:
		d.guess()
	}
	return d.script()
}

// maxNesting is how deep brackets may stand in brackets: a parser goes as deep.
const maxNesting = 1000

// nesting is how deep brackets can stand in brackets in a text or a part of it, whatever they are there.
func nesting(text string) (deepest int) {
	open := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			open++
			deepest = max(deepest, open)
		case ')', ']', '}':
			open = max(0, open-1)
		}
	}
	return deepest
}

// parsers are kept for the next command: a parser costs more to make than most commands to parse.
var parsers = map[syntax.LangVariant]*sync.Pool{syntax.LangBash: parsersOf(syntax.LangBash), syntax.LangPOSIX: parsersOf(syntax.LangPOSIX)}

func parsersOf(dialect syntax.LangVariant) *sync.Pool {
	return &sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(dialect), syntax.KeepComments(true)) }}
}

func parse(text string, dialect syntax.LangVariant) (*syntax.File, error) {
	p, _ := parsers[dialect].Get().(*syntax.Parser)
	defer parsers[dialect].Put(p)
	return p.Parse(strings.NewReader(text), "")
}

// Render gives the command to hand to the shell and the variables ("NAME=value") to set for it, when the values of Vars
// are these, in their order. In an unsafe script the values are pasted into the command, and no variable is set.
func (s *Script) Render(values []string) (command string, variables []string) {
	if len(s.pieces) == 0 {
		for i, v := range s.Vars {
			variables = append(variables, v.Name+"="+values[i])
		}
		return s.Command, variables
	}
	var b strings.Builder
	for i, piece := range s.pieces {
		b.WriteString(piece)
		if i < len(values) {
			b.WriteString(values[i])
		}
	}
	return b.String(), nil
}
