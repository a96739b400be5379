package manual

import (
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Markdown writes the reference of a program as Markdown.
func (p Page) Markdown(to io.Writer, app *kong.Application) error {
	w := &writer{w: to}
	w.printf("# %s\n", app.Name)
	main := own(app)
	prose := func(text string) { w.printf("\n%s\n", angles(strings.ReplaceAll(text, "\n", " "))) }
	code := func(text string) { w.printf("\n```sh\n%s\n```\n", text) }
	paragraphs(app.Help, prose, code)
	w.printf("\n```text\n%s\n```\n", synopsis(app, main))
	if main != app.Node {
		p.command(w, app, main, prose, code)
	}
	for _, c := range commands(app) {
		w.printf("\n## %s\n\n%s\n\n```text\n%s\n```\n", c.FullPath(), angles(c.Help), synopsis(app, c))
		p.command(w, app, c, prose, code)
	}
	w.printf("\n## Global flags\n\n")
	p.flagTable(w, p.global(app))
	return w.err
}

// command writes what is said of a command after its synopsis.
func (p Page) command(w *writer, app *kong.Application, c *kong.Node, prose, code func(string)) {
	paragraphs(c.Detail, prose, code)
	if e := Example(app, c); e != "" {
		code(e)
	}
	if len(c.Positional) > 0 {
		w.printf("\n| argument | |\n| --- | --- |\n")
		for _, a := range c.Positional {
			w.printf("| `%s` | %s |\n", cell(a.Summary()), cell(angles(about(a))))
		}
	}
	if flags := p.flags(c); len(flags) > 0 {
		w.printf("\n")
		p.flagTable(w, flags)
	}
}

func (p Page) flagTable(w *writer, flags []*kong.Flag) {
	w.printf("| flag | |\n| --- | --- |\n")
	for _, f := range flags {
		w.printf("| `%s` | %s |\n", cell(term(f)), cell(angles(about(f.Value))))
	}
}

// cell escapes what would end a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "|", `\|`)
}

// angles escapes what Markdown would take for HTML.
func angles(text string) string { return strings.ReplaceAll(text, "<", `\<`) }
