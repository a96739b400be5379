package cli

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// asFlags returns the arguments with the words help and version, where a command is expected, as the flags that they mean in programs
// without such commands: "help run" is "run --help".
func asFlags(g Grammar, args []string) []string {
	if len(args) == 0 || hasCommand(g, args[0]) || !takesCommands(g) {
		return args
	}
	switch {
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case args[0] == "version" && len(args) == 1:
		return []string{"--version"}
	}
	return args
}

// hasCommand reports whether a grammar has a command of a name.
func hasCommand(g Grammar, name string) bool {
	for f := range reflect.TypeOf(g).Elem().Fields() {
		if _, ok := f.Tag.Lookup("cmd"); ok && slices.Contains(namesOf(f), name) {
			return true
		}
	}
	return false
}

// takesCommands reports whether a grammar has commands and no argument of its own that help could be.
func takesCommands(g Grammar) (commands bool) {
	for f := range reflect.TypeOf(g).Elem().Fields() {
		if _, ok := f.Tag.Lookup("arg"); ok {
			return false
		}
		_, ok := f.Tag.Lookup("cmd")
		commands = commands || ok
	}
	return commands
}

// suggestCommand adds the nearest command to the fault of an unexpected argument. kong names it unless there is a default command, which
// might take arguments.
func suggestCommand(f *fault.Fault, root *kong.Node) {
	word, ok := strings.CutPrefix(f.Message, "unexpected argument ")
	if !ok || len(f.Suggestions) > 0 || strings.Contains(word, ", did you mean") {
		return
	}
	var names []string
	for _, c := range commandNames(root) {
		names = append(names, c.Value)
	}
	if near, ok := fault.Nearest(word, names); ok {
		f.Suggest("Did you mean %q?", near)
	}
}

// suggestAssignment adds to the fault of a flag that is unknown or has a wrong value how the value of an input is written, if the command
// takes KEY=VALUE.
func suggestAssignment(f *fault.Fault, err error, args []string) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(f.Message, "unknown flag "), "--")
	if !ok || len(f.Suggestions) > 0 || !takesAssignments(selected(err)) {
		return
	}
	name, _, _ := strings.Cut(firstWord(rest), ":")
	if name, _, _ = strings.Cut(name, "="); flagIn(args, "--"+name, "") != "" {
		f.Suggest("A value is written without hyphens: %s=VALUE", name)
	}
}

// takesAssignments reports whether a command takes KEY=VALUE arguments.
func takesAssignments(node *kong.Node) bool {
	return node != nil && slices.ContainsFunc(node.Positional, func(p *kong.Positional) bool { return p.Name == "key=value" })
}

// selected returns the command that a parse error is about, or nil.
func selected(err error) *kong.Node {
	if pe, ok := errors.AsType[*kong.ParseError](err); ok && pe.Context != nil {
		return pe.Context.Selected()
	}
	return nil
}

// commandLine is a command line that was parsed.
type commandLine struct {
	parsed *kong.Context
	args   []string
}

// CheckInput returns a fault if the command line has a flag by the name of an input of a workflow, which is not given: --dir=/tmp may be
// meant as dir=/tmp. The short form of a flag is certain. A flag that has none is taken, with a warning, unless its value is one of a few.
func CheckInput(a *App, name, workflow string) error {
	if !a.typed.has(name) {
		return nil
	}
	switch flag := flagNamed(a.typed.parsed.Selected(), "--"+name); {
	case flag == nil:
	case flag.Short != 0:
		short := "-" + string(flag.Short)
		if !flag.IsBool() {
			short += " VALUE"
		}
		return fault.New(fault.Usage, "--%s may be meant as the flag of %s or as the input %q of %s", name, a.Name, name, workflow).
			Suggest("For the input write %s=VALUE, for the flag %s", name, short)
	case flag.Enum == "" && !flag.IsBool():
		a.Warn("--%s is taken as the flag of %s; for the input %q of %s write %[1]s=VALUE", name, a.Name, name, workflow)
	}
	return nil
}

// has reports whether the line has a flag by its long name.
func (l commandLine) has(name string) bool {
	for _, arg := range l.args {
		if arg == "--" {
			return false
		}
		if word, _, _ := strings.Cut(arg, "="); word == "--"+name {
			return true
		}
	}
	return false
}
