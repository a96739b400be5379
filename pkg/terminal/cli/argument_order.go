package cli

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// flagsFirst moves the flags after a command before its arguments. So flags and arguments can be mixed, as in git and make;
// kong takes a list of arguments only if no flag interrupts it. Arguments after -- are not flags. A command line with an
// unknown flag is returned unchanged.
func flagsFirst(root *kong.Node, args []string) []string {
	node, flags, positionals := root, []string{}, []string{}
	var before []string // everything up to the command's name
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--" && inList(node, positionals):
			return slices.Concat(before, flags, []string{"--"}, positionals, args[i+1:])
		case arg == "--":
			return slices.Concat(before, flags, positionals, args[i:])
		case len(arg) > 1 && arg[0] == '-':
			takes, ok := takesNext(node, arg)
			if !ok || takes && i+1 == len(args) {
				return args
			}
			flags = append(flags, arg)
			if takes {
				i++
				flags = append(flags, args[i])
			}
		default:
			if next := command(node, arg); next != nil && len(positionals) == 0 {
				before, flags, node = slices.Concat(before, flags, []string{arg}), nil, next
				continue
			}
			positionals = append(positionals, arg)
		}
	}
	return slices.Concat(before, flags, positionals)
}

// inList reports whether a command takes a list of arguments and has its first one: kong does not accept -- inside the list
// either.
func inList(node *kong.Node, positionals []string) bool {
	n := len(node.Positional)
	return n > 0 && node.Positional[n-1].IsCumulative() && len(positionals) >= n
}

// command returns the child that an argument names, or nil.
func command(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Type == kong.CommandNode && (child.Name == name || slices.Contains(child.Aliases, name)) {
			return child
		}
	}
	return nil
}

// takesNext reports whether the argument after a flag is its value; ok is false if there is no such flag.
func takesNext(node *kong.Node, arg string) (takes, ok bool) {
	if !strings.HasPrefix(arg, "--") {
		return shortTakesNext(node, arg[1:])
	}
	name, _, valued := strings.Cut(arg[2:], "=")
	flag := flagOf(node, func(f *kong.Flag) bool {
		return f.Name == name || slices.Contains(f.Aliases, name) || f.Tag.Negatable != "" && "no-"+f.Name == name
	})
	if flag == nil {
		return false, false
	}
	return !valued && !flag.IsBool() && !flag.IsCounter(), true
}

// shortTakesNext is takesNext for the letters after one hyphen: flags without values, except that the last one may have one.
func shortTakesNext(node *kong.Node, letters string) (takes, ok bool) {
	for i, letter := range letters {
		flag := flagOf(node, func(f *kong.Flag) bool { return f.Short == letter })
		switch {
		case flag == nil:
			return false, false
		case !flag.IsBool() && !flag.IsCounter():
			return i+len(string(letter)) == len(letters), true
		}
	}
	return false, true
}

// flagOf returns the flag of a command, of its default command, or of a command above it; nil if they have no such flag.
func flagOf(node *kong.Node, is func(*kong.Flag) bool) *kong.Flag {
	if node.DefaultCmd != nil && node.DefaultCmd.Tag.Default == "withargs" {
		node = node.DefaultCmd
	}
	for n := node; n != nil; n = n.Parent {
		if i := slices.IndexFunc(n.Flags, is); i >= 0 {
			return n.Flags[i]
		}
	}
	return nil
}

// hideValues removes the values of assignments from a message, because they may be secrets.
func hideValues(message string, args []string) string {
	for _, arg := range args {
		if key, value, ok := strings.Cut(arg, "="); ok && value != "" && arg[0] != '-' {
			message = strings.ReplaceAll(message, arg, key+"=…")
		}
	}
	return message
}
