package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type listCommand struct {
	Pattern string `arg:"" optional:"" help:"Words that the name or the description must contain, or a name with * and ?."`
	Drafts  bool   `help:"List the drafts too." xor:"tools"`
	Tools   bool   `help:"Print the saved workflows as tools, one JSON array of objects with id, name, description and inputSchema." xor:"tools"`
	Source  string `help:"With --tools: print the workflows of this source in serve.json instead, as its command list prints them." placeholder:"SOURCE"`
	Limit   int    `help:"Print a page of at most N workflows; 0 for all, in one document." default:"-1" placeholder:"N"`
	Cursor  string `help:"Go on after the page that has this next_cursor; the other arguments are the same." placeholder:"CURSOR"`
}

// Help returns more text for --help.
func (listCommand) Help() string {
	return `With --limit, --cursor or --max-bytes the JSON is one object: workflows, total, and next_cursor if that is not the last page.
Otherwise it is a list of everything.

With --tools it is the array that a server of MCP tools reads, whatever the format. It has every saved workflow that can be read, and
takes no pattern and no page; standard error names the others. With --source it is the array of a source in serve.json.`
}

// listed is one workflow in the list.
type listed struct {
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Saved       bool      `json:"saved"`
	Hidden      bool      `json:"hidden,omitempty"`
	CreatedAt   time.Time `json:"created_at,omitzero"`
	UpdatedAt   time.Time `json:"updated_at,omitzero"`
	Version     string    `json:"version,omitempty"`
	// Truncated is true if a part was shortened to fit into a page.
	Truncated bool         `json:"truncated,omitempty"`
	Error     *fault.Fault `json:"error,omitempty"`
}

// listPage is a page of the list.
type listPage struct {
	Workflows []listed `json:"workflows"`
	// Total counts the workflows of all pages.
	Total      int    `json:"total"`
	NextCursor string `json:"next_cursor,omitempty"`
	left       int    // how many are on later pages
}

// Run prints the list, or a page of it.
func (c *listCommand) Run(app *cli.App) error {
	debug.SetGCPercent(400) // the process ends before the garbage matters
	if c.Tools {
		return c.tools(app)
	}
	if c.Source != "" {
		return fault.New(fault.Usage, "--source lists workflows as tools").Suggest("Add --tools")
	}
	paged := c.Limit >= 0 || c.Cursor != "" || app.MaxBytes > 0
	if c.Limit == -1 {
		c.Limit = 0
	}
	limits := page.Limits{Bytes: app.MaxBytes, Entries: c.Limit}
	if err := limits.Check(); err != nil {
		return err
	}
	lib, _, err := open(app)
	if err != nil {
		return err
	}
	found, err := lib.List(c.Drafts, c.Pattern)
	if err != nil {
		return err
	}
	items, secrets := make([]listed, len(found)), secretsOf(app)
	for i, w := range found {
		items[i] = item(w)
		items[i].Description = secrets.Text(w.Description)
	}
	if !paged {
		return cli.List(app, items, func(w io.Writer) { listText(w, items, app.Stdout.Columns()) })
	}
	answer, err := c.page(items, limits, app.Reader)
	if err != nil {
		return err
	}
	err = app.Document(answer, func(w io.Writer) { listText(w, answer.Workflows, app.Stdout.Columns()) })
	if err == nil && answer.left > 0 && !app.JSON() && !app.Quiet {
		_, _ = fmt.Fprintf(app.Messages(), "and %d more; --cursor %s continues\n", answer.left, answer.NextCursor)
	}
	return err
}

// page returns the page that the command asks for.
func (c *listCommand) page(items []listed, limits page.Limits, reader fault.Reader) (listPage, error) {
	query := []any{"list", c.Pattern, c.Drafts}
	places, err := page.Places(c.Cursor, query, 1)
	if err != nil {
		return listPage{}, err
	}
	key := func(i int) string { return fmt.Sprint(items[i].Saved, items[i].Name) }
	from := places[0].In(len(items), key)
	room := limits.Room(page.Size(listPage{Workflows: []listed{}, Total: len(items), NextCursor: strings.Repeat("-", page.MaxCursor)}))
	shown, _, err := page.Fill(from, len(items), limits.Entries, room, true, func(i int) (listed, error) {
		if limits.Bytes == 0 {
			return items[i], nil
		}
		return items[i].within(room-1, reader), nil
	})
	answer := listPage{Workflows: append([]listed{}, shown...), Total: len(items), left: len(items) - from - len(shown)}
	if answer.left > 0 {
		answer.NextCursor = page.Cursor(query, page.After(from+len(shown), key))
	}
	return answer, err
}

// maxDescription is the most bytes of a description on a page.
const maxDescription = 400

// within returns the workflow as a page shows it: with a description of some lines, without the details of its fault, and in at most
// the given number of bytes.
func (l listed) within(most int, reader fault.Reader) listed {
	if l.Error != nil {
		f := briefly(l.Error, maxDescription)
		f.SuggestAs(l.Error).Address(reader)
		l.Error = f
	}
	whole := l
	for _, text := range []int{maxDescription, maxBrief, maxBrief / 4, 0} {
		l.Description, l.Version = page.Cut(whole.Description, text), page.Cut(whole.Version, maxBrief/4)
		l.Truncated = l.Description != whole.Description || l.Version != whole.Version
		if page.Size(l) <= most {
			return l
		}
		if l.Error != nil {
			l.Error, l.Truncated = briefly(whole.Error, text), true
		}
	}
	l.Name = page.Cut(l.Name, max(most-page.Size(l)+len(l.Name), maxBrief)) // which is no valid name
	return l
}

func listText(w io.Writer, items []listed, columns int) {
	var table cells.Table
	for _, i := range items {
		table.Row(i.Name, i.state(), i.Description)
	}
	_ = table.Write(w, columns)
}

func item(w library.Listed) listed {
	return listed{
		Name: w.Name, Description: w.Description, Saved: w.Saved, Hidden: w.Hidden,
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt, Version: w.Version, Error: w.Error,
	}
}

// state returns the state of a workflow for people.
func (l listed) state() string {
	switch {
	case l.Error != nil:
		return "broken"
	case l.Hidden:
		return "hidden draft"
	case l.Saved:
		return "saved"
	}
	return "draft"
}
