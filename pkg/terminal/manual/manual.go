// Package manual writes the reference of a program from its grammar: as a man page, and as Markdown.
package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Page is what a page has besides the grammar.
type Page struct {
	// Version is the version of the program.
	Version string
	// Documentation is the address of the rest of the documentation.
	Documentation string
	// Global is the group of the flags that all commands have.
	Global string
}

// commands returns the commands of a program that its help lists, in its order.
func commands(app *kong.Application) []*kong.Node {
	var listed []*kong.Node
	for _, leaf := range app.Leaves(true) {
		if !leaf.Hidden {
			listed = append(listed, leaf)
		}
	}
	return listed
}

// flags returns the flags that a node declares itself, without those of the global group.
func (p Page) flags(n *kong.Node) (own []*kong.Flag) {
	for _, level := range n.AllFlags(true) {
		for _, f := range level {
			if f.Hidden || f.Name == "help" || f.Group != nil && f.Group.Key == p.Global {
				continue
			}
			own = append(own, f)
		}
	}
	return own
}

// global returns the flags of the global group.
func (p Page) global(app *kong.Application) (flags []*kong.Flag) {
	for _, f := range app.Flags {
		if !f.Hidden && (f.Name == "help" || f.Group != nil && f.Group.Key == p.Global) {
			flags = append(flags, f)
		}
	}
	return flags
}

// own returns the command that runs without a name, which is hidden, or the program itself.
func own(app *kong.Application) *kong.Node {
	if app.DefaultCmd != nil && app.DefaultCmd.Hidden {
		return app.DefaultCmd
	}
	return app.Node
}

// synopsis returns how a command is written, with the words in angle brackets as they are in help.
func synopsis(app *kong.Application, n *kong.Node) string {
	if n == own(app) {
		parts := []string{app.Name}
		for _, a := range n.Positional {
			parts = append(parts, a.Summary())
		}
		if len(commands(app)) > 1 {
			parts = append(parts, "COMMAND")
		}
		return strings.Join(append(parts, "[FLAGS]"), " ")
	}
	return app.Name + " " + n.Summary()
}

// term returns a flag as it is written: -o, --output=FILE.
func term(f *kong.Flag) string {
	text := "--" + f.Name
	if f.Tag.Negatable == "_" {
		text = "--[no-]" + f.Name
	}
	if f.Short != 0 {
		text = "-" + string(f.Short) + ", " + text
	}
	if !f.IsBool() && !f.IsCounter() {
		text += "=" + f.FormatPlaceHolder()
	}
	return text
}

// about returns the help of a value, with its environment variable.
func about(v *kong.Value) string {
	text := v.Help
	if len(v.Tag.Envs) > 0 {
		text = strings.TrimSuffix(text, ".") + " ($" + strings.Join(v.Tag.Envs, ", $") + ")."
	}
	return text
}

// Example returns the command line in the tag "example" of a command, with the program's name for PROGRAM, or "" if its details have
// command lines already.
func Example(app *kong.Application, n *kong.Node) string {
	if n.Tag == nil || strings.Contains(n.Detail, "  "+app.Name+" ") {
		return ""
	}
	return strings.ReplaceAll(n.Tag.Get("example"), "PROGRAM", app.Name)
}

// paragraphs divides the details of a command into prose and code. Lines that are indented by two blanks or more are code.
func paragraphs(text string, prose, code func(string)) {
	var lines []string
	inCode := false
	end := func() {
		if joined := strings.TrimSpace(strings.Join(lines, "\n")); joined != "" {
			if inCode {
				code(joined)
			} else {
				prose(joined)
			}
		}
		lines = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		plain := strings.TrimSpace(line)
		indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		if plain == "" && !inCode || plain != "" && indented != inCode {
			end()
			inCode = indented
		}
		lines = append(lines, plain)
	}
	end()
}

// writer keeps the first error.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, args...)
	}
}
