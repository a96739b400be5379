// Package shell renders the templates in a shell command so that a value cannot become code. The value is passed in an
// environment variable, and the template is replaced by a reference to that variable, which the shell expands after it has
// parsed the command. So a template behaves as a shell variable with the same value.
//
// Commands are parsed both as POSIX shell and as bash, because /bin/sh may be either. It is an error if the two disagree on
// the context of a template, or if a template, or a variable set from one, is used where a shell evaluates text as code.
package shell

import (
	"fmt"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Options describe the names that a command can use.
type Options struct {
	// Known reports whether a template may begin with a name: an input, a node or an alias.
	Known func(root string) bool
	// Own lists the variables that the node's env sets.
	Own []string
	// Tainted lists those of the node's env whose values contain templates; they must not become code either.
	Tainted []string
	// StdinTainted reports whether the standard input of the command contains a template.
	StdinTainted bool
	// Unsafe pastes values into the command as they are, so that they can become code.
	Unsafe bool
}

// Script is a command with its templates replaced by references to variables.
type Script struct {
	// Command is the text for the shell. For an unsafe script with templates it is the command as written. It is empty if
	// there is an error among the problems.
	Command string
	// Vars are the templates in order of appearance, without those in comments.
	Vars []Var

	pieces []string // of an unsafe script: the text before, between and after the values
}

// Var is a template and the variable that holds its value.
type Var struct {
	// Name is the name of the variable, empty in an unsafe script.
	Name string
	Expr template.Expr
	// Integer reports whether the template is used in arithmetic, where Accepts allows only an integer.
	Integer bool
}

// Problem is an error or a warning about a command: a template, or a variable or standard input that contains one, in a
// place where no value is allowed; a name that is neither a template nor a shell variable; a command that would destroy the
// system.
type Problem struct {
	Message string
	Suggest string
	// Name is the undefined root name, if the problem is that the name is undefined.
	Name string
	// Warning reports whether the command can still be run.
	Warning bool
	// Dangerous reports whether the command is refused because of what it would destroy.
	Dangerous bool
	// Offset is the byte offset of the problem in the command as written, or -1 if it is not known.
	Offset int
}

// Parse renders a command. A ${…} in it is a template if it begins with a known name. Otherwise it is a shell expansion if
// the command or the node's env sets the variable, or if it does not have the form of a template, such as ${name:-x}. A
// ${…} that is neither is a problem. Parse always returns a script; it can be run if all problems are warnings.
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
		return &Script{}, []Problem{{Offset: -1, Message: fmt.Sprintf("the command is %d bytes long; the system allows at most %d", len(command), MaxVariable),
			Suggest: `Put it into a script file, or pass its long parts as standard input ("stdin")`}}
	}
	d := newDraft(command, o)
	if what, at := dangerous(d.text, nil, 0); what != "" {
		p := refused(what)
		p.Offset = d.original(at)
		d.add(p)
	}
	if !given && len(d.marks) == 0 && len(d.unclear) == 0 {
		return d.script()
	}
	safe := (given || len(d.marks) > 0) && !o.Unsafe
	if nesting(d.text) > maxNesting {
		if safe {
			d.add(Problem{Offset: -1, Message: fmt.Sprintf("the command nests brackets more than %d deep", maxNesting), Suggest: "Put the nested part into a script file and call that"})
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

// maxNesting is the deepest nesting of brackets, which bounds the recursion of the parser.
const maxNesting = 1000

// nesting returns an upper bound for the nesting of brackets in a text, whatever they mean there.
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

// parsers are reused: creating a parser takes longer than parsing most commands.
var parsers = map[syntax.LangVariant]*sync.Pool{syntax.LangBash: parsersOf(syntax.LangBash), syntax.LangPOSIX: parsersOf(syntax.LangPOSIX)}

func parsersOf(dialect syntax.LangVariant) *sync.Pool {
	return &sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(dialect), syntax.KeepComments(true)) }}
}

func parse(text string, dialect syntax.LangVariant) (*syntax.File, error) {
	p, _ := parsers[dialect].Get().(*syntax.Parser)
	defer parsers[dialect].Put(p)
	return p.Parse(strings.NewReader(text), "")
}

// Render returns the command for the shell and the variables ("NAME=value") to set for it, given the values of Vars in
// their order. In an unsafe script the values are pasted into the command and no variable is set.
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
