package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Man writes the reference of a program as a page for man(1), in the macros of man(7).
func (p Page) Man(to io.Writer, app *kong.Application) error {
	w := &writer{w: to}
	main := own(app)
	w.printf(".TH %s 1 \"\" \"pflow %s\" \"pflow\"\n", roff(strings.ToUpper(app.Name)), roff(p.Version))
	first, _, _ := strings.Cut(strings.ReplaceAll(app.Help, "\n", " "), ". ")
	w.printf(".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", roff(app.Name), roff(strings.TrimSuffix(strings.SplitN(first, ": ", 2)[0], ".")))
	w.printf(".nf\n%s\n.fi\n.SH DESCRIPTION\n", roff(synopsis(app, main)))
	prose := func(text string) { w.printf(".PP\n%s\n", roff(text)) }
	code := func(text string) { w.printf(".PP\n.RS 4\n.nf\n%s\n.fi\n.RE\n", roff(text)) }
	paragraphs(app.Help, prose, code)
	if main != app.Node {
		p.manCommand(w, app, main, prose, code)
	}
	if len(commands(app)) > 0 {
		w.printf(".SH COMMANDS\n")
	}
	for _, c := range commands(app) {
		w.printf(".SS %s\n", roff(synopsis(app, c)))
		prose(c.Help)
		p.manCommand(w, app, c, prose, code)
	}
	w.printf(".SH GLOBAL FLAGS\n")
	manFlags(w, p.global(app))
	if strings.HasPrefix(app.Name, "pflow-") {
		w.printf(".SH FILES\n.TP\n.I $PFLOW_HOME\nThe folder of the suite's files, by default ~/.pflow\n")
	}
	w.printf(".SH SEE ALSO\n%s\n", roff(p.Documentation))
	return w.err
}

// manCommand writes what is said of a command after its synopsis.
func (p Page) manCommand(w *writer, app *kong.Application, c *kong.Node, prose, code func(string)) {
	paragraphs(c.Detail, prose, code)
	if e := Example(app, c); e != "" {
		code(e)
	}
	for _, a := range c.Positional {
		w.printf(".TP\n%s\n%s\n", roff(a.Summary()), roff(about(a)))
	}
	manFlags(w, p.flags(c))
}

func manFlags(w *writer, flags []*kong.Flag) {
	for _, f := range flags {
		w.printf(".TP\n.B %s\n%s\n", roff(term(f)), roff(about(f.Value)))
	}
}

// roff escapes text: what is not ASCII, backslashes, hyphens, which may be copied, and what is a request at the beginning of a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.TrimSpace(text))
	var ascii strings.Builder
	for _, r := range text {
		if r < 0x80 {
			ascii.WriteRune(r)
			continue
		}
		fmt.Fprintf(&ascii, `\[u%04X]`, r)
	}
	lines := strings.Split(ascii.String(), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
