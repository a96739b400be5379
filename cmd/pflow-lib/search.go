package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type searchCommand struct {
	Words       []string `arg:"" optional:"" help:"What to search for. Without words, everything is listed."`
	NoWorkflows bool     `help:"Search node types only."`
	Type        string   `help:"Show only the node type of this name, in full." placeholder:"TYPE"`
	Server      string   `help:"Search only the node types of this MCP server." placeholder:"NAME" complete:"server"`
	Detail      string   `help:"How much to show of a node type: brief (what it does) or full (its whole interface). Default: full; with --max-bytes, the best 8 full and the others brief." enum:"brief,full," default:"" placeholder:"brief|full"`
	Limit       int      `help:"Print at most N node types and N workflows; 0 for all. Default: 50 with words, all without or with --max-bytes." default:"-1" placeholder:"N"`
	Long        bool     `help:"On a terminal, print descriptions whole. Without it each hit is one line."`
	Cursor      string   `help:"Go on after the page that has this next_cursor; the other arguments are the same." placeholder:"CURSOR"`

	maxBytes int
	reader   fault.Reader
}

// defaultLimit is the limit of a query without --limit.
const defaultLimit = 50

// Help returns more text for --help.
func (searchCommand) Help() string {
	return `Words may have another form or small typing errors, may be synonyms, and may form a sentence: "reading files" finds read-file,
and "erase a document" delete-file. A word in a name counts more than one in a description, and a rare word more than a common one.
In a sentence, the name of a file, an address, a time, and a text in double quotation marks stand for a thing of that kind; their
own words count little. The first 32 words count, and 64 bytes of each. The words need no quotation marks.

If not everything was printed, the answer has next_cursor: with --cursor and otherwise the same arguments, search goes on there.`
}

// found is the result.
type found struct {
	Nodes []component `json:"nodes"`
	// Workflows is nil if they were not searched.
	Workflows *[]foundWorkflow `json:"workflows,omitempty"`
	// Total counts the node types and workflows of all pages, More those after this page.
	Total      int    `json:"total"`
	More       int    `json:"more,omitempty"`
	NextCursor string `json:"next_cursor,omitempty"`
	// Warnings say what could not be searched.
	Warnings []*fault.Fault `json:"warnings,omitempty"`
	// Suggestions say what to try if nothing was found, and how to see what is not shown.
	Suggestions []string `json:"suggestions,omitempty"`
}

type foundWorkflow struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Saved       bool   `json:"saved"`
	// Error is set if the workflow's file is broken.
	Error *fault.Fault `json:"error,omitempty"`
}

// Run prints what was found.
func (c *searchCommand) Run(app *cli.App) error {
	debug.SetGCPercent(400) // the process ends before the garbage matters
	c.maxBytes, c.reader = app.MaxBytes, app.Reader
	if err := c.check(); err != nil {
		return err
	}
	var answer found
	var err error
	if c.Type != "" {
		answer, err = c.oneType(app)
	} else {
		answer, err = c.search(app)
	}
	if err != nil {
		return err
	}
	columns := app.Stdout.Columns()
	if err := app.Document(answer, func(w io.Writer) { answer.text(w, columns, c.Long) }); err != nil || app.JSON() || app.Quiet {
		return err
	}
	for _, w := range answer.Warnings {
		app.Warn("%s%s", w.Where(), w.Message)
	}
	answer.hints(app.Messages())
	return nil
}

// check returns a usage_error for flags that contradict each other, and sets the default limit.
func (c *searchCommand) check() error {
	if c.Limit == -1 {
		c.Limit = 0
		if len(c.words()) > 0 && c.maxBytes == 0 {
			c.Limit = defaultLimit
		}
	}
	if err := c.limits().Check(); err != nil {
		return err
	}
	if c.Type != "" && (len(c.words()) > 0 || c.Server != "" || c.Cursor != "") {
		return fault.New(fault.Usage, "One node type by its name (type) needs no words, no server and no cursor").
			Suggest("Leave out the type to search, or the others to see the type %s", c.Type)
	}
	return nil
}

func (c *searchCommand) words() string { return strings.TrimSpace(strings.Join(c.Words, " ")) }

func (c *searchCommand) limits() page.Limits { return page.Limits{Bytes: c.maxBytes, Entries: c.Limit} }

// query is what a cursor belongs to.
func (c *searchCommand) query() any {
	return []any{"search", c.words(), c.Server, c.NoWorkflows}
}

// oneType returns the answer to --type.
func (c *searchCommand) oneType(app *cli.App) (found, error) {
	t, err := typeNamed(app, c.Type, fault.New(fault.NotFound, "There is no node type %q", c.Type))
	if err != nil {
		return found{}, err
	}
	if c.Detail == "brief" {
		t = t.brief()
	}
	answer := found{Nodes: []component{t}, Total: 1}
	if c.maxBytes > 0 && page.Size(answer) > c.maxBytes {
		answer.Suggestions = []string{wholeType(c.reader)}
		answer.Nodes[0] = t.within(c.maxBytes - page.Size(answer) + page.Size(t))
	}
	return answer, nil
}

// search returns the answer to a query: a page of the node types and workflows that it finds.
func (c *searchCommand) search(app *cli.App) (answer found, err error) {
	lib, types, err := open(app)
	if err != nil {
		return answer, err
	}
	secrets := secretsOf(app)
	p := pager{command: c, secrets: secrets}
	if !c.NoWorkflows && c.Server == "" {
		if p.workflows, p.warnings, err = searchWorkflows(lib, c.words(), secrets); err != nil {
			return answer, err
		}
	}
	err = types.Find(registry.Query{Words: c.words(), Server: c.Server}, func(f *registry.Found) error {
		answer, err = p.page(f)
		return err
	})
	if answer.Total == 0 {
		answer.Suggestions = suggestions(types, c)
	}
	return answer, err
}

// searchWorkflows returns the workflows that match a query, drafts too, best first, and then the broken ones whose names have a word
// of the query. The warning counts the other broken ones.
func searchWorkflows(lib *library.Library, query string, secrets *redact.Redactor) (list []foundWorkflow, warnings []*fault.Fault, err error) {
	fine, broken, err := lib.Search(query)
	if err != nil {
		return nil, nil, err
	}
	list = make([]foundWorkflow, 0, len(fine))
	for _, w := range fine {
		list = append(list, foundWorkflow{w.Name, secrets.Text(w.Description), w.Saved, nil})
	}
	others := 0
	for _, w := range broken {
		if !names(w.Name, query) {
			others++
			continue
		}
		list = append(list, foundWorkflow{w.Name, "", w.Saved, secrets.Fault(w.Error)})
	}
	if others > 0 {
		warnings = append(warnings, fault.New(fault.Validation, "Workflows that cannot be read were not searched: %d", others).
			Then(fault.Step{Do: fault.DoDrafts}))
	}
	return list, warnings, nil
}

// names reports whether a name has a word of the query, or the query has no words.
func names(name, query string) bool {
	if query == "" {
		return true
	}
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// knownSecrets returns a Redactor with the secrets of the settings and the environment. A registry may have been written before
// they were redacted there.
func knownSecrets(app *cli.App) (*redact.Redactor, error) {
	_, s, err := loadSettings(app)
	if err != nil {
		return nil, err
	}
	return redact.For(s.Env, app.Env), nil
}

// secretsOf returns what knownSecrets returns. If the settings cannot be read, the secrets are only those of the environment: what else
// is shown then has no secrets of the settings.
func secretsOf(app *cli.App) *redact.Redactor {
	secrets, err := knownSecrets(app)
	if err != nil {
		return redact.For(nil, app.Env)
	}
	return secrets
}

// text prints a line for each hit, cut at that many columns unless that is 0, or with whole descriptions.
func (f found) text(w io.Writer, columns int, long bool) {
	var table cells.Table
	for _, n := range f.Nodes {
		table.Row(n.Type, "node", n.Description)
	}
	if f.Workflows != nil {
		for _, wf := range *f.Workflows {
			table.Row(wf.Name, wf.state(), wf.Description)
		}
	}
	if long {
		_ = table.WriteWhole(w, columns)
		return
	}
	_ = table.Write(w, columns)
}

// state returns what people see of a workflow besides its name.
func (w foundWorkflow) state() string {
	switch {
	case w.Error != nil:
		return "broken"
	case w.Saved:
		return "workflow"
	}
	return "draft"
}

// hints prints for people how to see what is not on the page, and what to try if nothing was found.
func (f found) hints(w io.Writer) {
	if f.More > 0 {
		_, _ = fmt.Fprintf(w, "and %d more; --limit 0 shows all\nhint: --cursor %s continues\n", f.More, f.NextCursor)
	}
	if f.Total > 0 {
		return
	}
	for _, s := range f.Suggestions {
		_, _ = fmt.Fprintf(w, "hint: %s\n", s)
	}
}
