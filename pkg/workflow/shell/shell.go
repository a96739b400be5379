// Package shell renders the templates in a shell command so that a value cannot become code. The value is passed in an
// environment variable, and the template is replaced by a reference to that variable, which the shell expands after it has
// parsed the command. So a template behaves as a shell variable with the same value.
//
// The shell that runs the command therefore parses the tree that its author wrote, whatever a template holds. Commands are
// parsed both as POSIX shell and as bash, because /bin/sh may be either; a command that the two read differently is run by
// bash. It is an error if a template, or a variable that the command sets from one, stands directly where that shell
// evaluates text as code. What programs do with their arguments, files and input is not examined, except for a few warnings.
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
	// Number reports whether a template's value is a number, true, false or null, which are harmless everywhere. It may be nil.
	Number func(e template.Expr) bool
	// Own lists the variables that the node's env sets.
	Own []string
	// FromTemplates lists those of the node's env whose values contain templates; they must not become code either.
	FromTemplates []string
	// Unsafe pastes values into the command as they are, so that they can become code.
	Unsafe bool
}

// Script is a command with its templates replaced by references to variables.
type Script struct {
	// Command is the text for the shell. For an unsafe script with templates it is the command as written. It is empty if
	// there is an error among the problems.
	Command string
	// Bash reports whether the command must be run by bash, because other shells cannot parse it or parse it otherwise.
	Bash bool
	// Whole reports whether the command consists of one template, whose value is the name of a program.
	Whole bool
	// Vars are the templates in order of appearance, without those that are text or in comments.
	Vars []Var

	guard  *guard   // where bash could run a value
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

// Parse renders a command. A ${…} in it is a template if it begins with a known name. Otherwise it is a shell expansion if
// the command or the node's env sets the variable, or if it does not have the form of a template, such as ${name:-x}. A
// ${…} that is neither is a problem. Parse always returns a script; it can be run if all problems are warnings.
func Parse(command string, o Options) (*Script, []Problem) {
	given := !o.Unsafe && len(o.FromTemplates) > 0
	templates := strings.Contains(command, "${")
	if len(command) > MaxVariable && (templates || given) {
		return &Script{}, []Problem{{Kind: TooLarge, Offset: -1, Message: fmt.Sprintf("the command is %d bytes long; the system allows at most %d", len(command), MaxVariable),
			Suggest: `Put it into a script file, or pass its long parts as standard input ("stdin")`}}
	}
	if !given && simple(command) {
		if what, _ := dangerous(command, nil, 0); what == "" && !strings.Contains(command, "setsid") {
			return &Script{Command: command}, nil
		}
	}
	return parseWhole(command, o, given)
}

// ParseCode reads the bash code of a node, whose variables of the given names have values that are known only when it runs. The script is
// for [Script.Refuses] alone. Problems are warnings.
func ParseCode(code string, names []string) (*Script, []Problem) {
	d := &draft{Options: Options{FromTemplates: names}, command: code, text: code, shifts: []shift{{}}, code: true}
	if len(names) == 0 {
		return &Script{}, nil
	}
	if nesting(code) > maxNesting {
		return &Script{guard: &guard{what: "code that cannot be examined", text: "it nests brackets too deeply"}}, nil
	}
	file, err := parse(code, syntax.LangBash)
	if err != nil {
		_, what := d.syntaxError(err)
		return &Script{guard: &guard{what: "code that cannot be examined", text: what}}, nil
	}
	d.evaluate(file)
	for i := range d.problems {
		d.problems[i].Warning = true
	}
	return d.script()
}

// parseWhole is Parse for any command. given reports whether it can use variables with values of templates.
func parseWhole(command string, o Options, given bool) (*Script, []Problem) {
	d := newDraft(command, o)
	if what, at := dangerous(d.text, nil, 0); what != "" {
		p := refused(what)
		p.Offset = d.original(at)
		d.add(p)
	}
	if words, direct := Direct(command); direct && !given || len(command) > MaxVariable {
		if direct && detaches(words) {
			d.add(leftBehind(0))
		}
		return d.script()
	}
	safe := (given || len(d.marks) > 0) && !o.Unsafe
	if nesting(d.text) > maxNesting {
		if safe {
			d.add(Problem{Kind: TooLarge, Offset: -1, Message: fmt.Sprintf("the command nests brackets more than %d deep", maxNesting), Suggest: "Put the nested part into a script file and call that"})
		}
		return d.script()
	}
	file, err := parse(d.text, syntax.LangBash)
	switch {
	case err == nil:
		d.settle(file)
		d.locate(file)
		d.leaves(file)
		if safe {
			d.evaluate(file)
			d.misplaced()
			d.render(file)
		}
	case !o.Unsafe:
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
