package shell

import "github.com/pflow-suite/pflow/pkg/workflow/template"

// Problem is an error or a warning about a command.
type Problem struct {
	Kind    Kind
	Message string
	Suggest string
	// Name is the undefined root name of an Undefined problem, and Expr the template that has it, or nil if it cannot be parsed as one.
	Name string
	Expr *template.Expr
	// Warning reports whether the command can still be run.
	Warning bool
	// Offset is the byte offset of the problem in the command as written, or -1 if it is not known.
	Offset int
}

// Kind is what a problem is about.
type Kind string

// The kinds of problems.
const (
	// TooLarge is a command that is too long, or nested too deeply.
	TooLarge Kind = "too large"
	// Syntax is a command that no shell can parse.
	Syntax Kind = "syntax"
	// Undefined is a ${…} that is neither a template nor a variable of the shell.
	Undefined Kind = "undefined"
	// Ambiguous is a ${…} that could be both.
	Ambiguous Kind = "ambiguous"
	// Literal is a template in a place where the shell expands nothing.
	Literal Kind = "literal"
	// Arithmetic is a value in an arithmetic expression, where bash runs code in it.
	Arithmetic Kind = "arithmetic"
	// Variable is a value in the place of a variable's name, in whose subscript bash runs code.
	Variable Kind = "variable"
	// Code is a value in text that a shell runs, such as an argument of eval.
	Code Kind = "code"
	// Test is a value whose words become operators of [ or test.
	Test Kind = "test"
	// Command is a value that names the command.
	Command Kind = "command"
	// Program is a value in code for a program that is not the shell, such as awk.
	Program Kind = "program"
	// Option is a value that a program could read as an option.
	Option Kind = "option"
	// Unquoted is a value that the shell splits into words or uses as a pattern.
	Unquoted Kind = "unquoted"
	// Destructive is a command that destroys the system on which it runs.
	Destructive Kind = "destructive"
	// LeftBehind is a process that the command leaves in the background.
	LeftBehind Kind = "left behind"
)
