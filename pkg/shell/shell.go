// Package shell finds where a template stands in a shell command and renders it there, so that a value can never become
// code: the value travels in an environment variable, and what stands in the command is a reference to it that the
// shell expands after it has parsed. A template thus behaves as the shell variable that holds its value would.
package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pflow-suite/pflow/pkg/template"
)

// VariablePrefix begins the names of the variables that carry values into a command.
const VariablePrefix = "PFLOW_T"

// MaxVariable is the most bytes a variable takes, its name and the equals sign included (Linux's MAX_ARG_STRLEN).
const MaxVariable = 131071

// Script is a command with its templates made references to variables.
type Script struct {
	// Command is what the shell is given.
	Command string
	// Vars are the variables that must be set for it.
	Vars []Var
}

// Var is one variable and the reference whose value it carries.
type Var struct {
	Name string
	Ref  template.Ref
}

// Problem is a template that stands where no value may stand, or a name that is neither a template nor the shell's.
type Problem struct {
	Message string
	Suggest string
	// Name is the root in question, when the problem is that nothing has this name.
	Name string
}

// Parse renders a command. known says which roots are inputs or nodes; own are the variables that the node's env sets.
// A ${name} that is neither is the shell's when the command assigns it, and a problem otherwise; other ${…} forms, such
// as ${name:-x}, are always the shell's.
func Parse(command string, known func(root string) bool, own []string) (*Script, []Problem) {
	parts := template.Parse(command)
	s := &Script{}
	var b strings.Builder
	var doubtful []template.Ref
	for _, p := range parts {
		switch {
		case p.Ref == nil:
			b.WriteString(p.Text)
		case known(p.Ref.Root):
			v := Var{Name: fmt.Sprintf("%s%d", VariablePrefix, len(s.Vars)+1), Ref: *p.Ref}
			s.Vars = append(s.Vars, v)
			b.WriteString("${" + v.Name + "}")
		default:
			doubtful = append(doubtful, *p.Ref)
			b.WriteString(p.Source)
		}
	}
	s.Command = b.String()
	if len(s.Vars) == 0 && len(doubtful) == 0 {
		return s, nil
	}
	if nodes := slices.DeleteFunc(slices.Clone(doubtful), func(r template.Ref) bool { return len(r.Path) == 0 }); len(nodes) > 0 {
		return nil, undefined(nodes, nil) // no shell knows ${a.b}: a node is meant
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s.Command), "")
	if err != nil {
		return nil, []Problem{{Message: fmt.Sprintf("the command is no shell syntax: %v", err), Suggest: "Check its quotes and brackets; for a literal ${ write $${"}}
	}
	problems := undefined(doubtful, assigned(file, own))
	r := &renderer{source: s.Command, vars: s.Vars, seen: map[string]bool{}}
	r.file(file)
	problems = append(problems, r.problems...)
	for _, v := range s.Vars {
		if !r.seen[v.Name] && !r.blamed[v.Name] {
			problems = append(problems, Problem{
				Message: fmt.Sprintf("%s stands where the shell would not read it as a value", v.Ref),
				Suggest: fmt.Sprintf(`Put it in double quotes: "%s"; a literal is written $%s`, v.Ref, v.Ref),
			})
		}
	}
	s.Command = r.result()
	return s, problems
}

// assigned lists the variables that a command or its node sets.
func assigned(file *syntax.File, own []string) []string {
	names := slices.Clone(own)
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				names = append(names, n.Name.Value)
			}
		case *syntax.WordIter:
			names = append(names, n.Name.Value)
		case *syntax.CallExpr: // read NAME…
			if len(n.Args) > 1 && n.Args[0].Lit() == "read" {
				for _, a := range n.Args[1:] {
					names = append(names, a.Lit())
				}
			}
		}
		return true
	})
	return names
}

func undefined(refs []template.Ref, assigned []string) (problems []Problem) {
	for _, ref := range refs {
		if len(ref.Path) == 0 && slices.Contains(assigned, ref.Root) {
			continue
		}
		suggest := fmt.Sprintf("For the shell's own variable write $%s, or $%s", ref.Root, ref)
		if len(ref.Path) > 0 {
			suggest = fmt.Sprintf("For a literal %s write $%s", ref, ref)
		}
		problems = append(problems, Problem{
			Message: fmt.Sprintf("%s not resolved: it is no input and no node, and the command does not set it", ref), Suggest: suggest, Name: ref.Root,
		})
	}
	return problems
}
