package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type searchCommand struct {
	Words       []string `arg:"" optional:"" help:"What to search for. Without words, everything is listed."`
	NoWorkflows bool     `help:"Search node types only."`
	Limit       int      `help:"Print at most N node types and N workflows; 0 for all. Default: 50 with words, all without." default:"-1" placeholder:"N"`
}

// defaultLimit is the limit of a query without --limit.
const defaultLimit = 50

// Help returns more text for --help.
func (searchCommand) Help() string {
	return `Words may have another form or small typing errors, and may form a sentence: "reading files" finds read-file. Results with all
words come first; a word in a name counts more than one in a description, and a rare word more than a common one. The first 32
words count, and 64 bytes of each. The words need no quotation marks.`
}

// found is the result. Workflows is nil with --no-workflows. More is the number of results over the limit. Suggestions is nil
// if something was found.
type found struct {
	Nodes       []component      `json:"nodes"`
	Workflows   *[]foundWorkflow `json:"workflows,omitempty"`
	More        int              `json:"more,omitempty"`
	Suggestions []string         `json:"suggestions,omitempty"`
}

// component is a node type with its interface.
type component struct {
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Inputs      []nodetype.Param  `json:"inputs"`
	Outputs     []nodetype.Output `json:"outputs"`
	Actions     []string          `json:"actions"`
}

type foundWorkflow struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Run prints what was found.
func (c *searchCommand) Run(app *cli.App) error {
	limit, query := c.Limit, strings.Join(c.Words, " ")
	switch {
	case limit < -1:
		return fault.New(fault.Usage, "--limit must be at least 0, got %d", limit).Suggest("Use the number of results to print, or 0 for all")
	case limit == -1 && strings.TrimSpace(query) != "":
		limit = defaultLimit
	}
	limit = max(limit, 0)
	lib, types, err := open(app)
	if err != nil {
		return err
	}
	matches, total, err := types.Search(query, 0, limit)
	if err != nil {
		return err
	}
	secrets, err := knownSecrets(app)
	if err != nil {
		return err
	}
	answer := found{Nodes: components(matches, secrets), More: total - len(matches)}
	if !c.NoWorkflows {
		workflows, left, err := searchWorkflows(lib, query, limit)
		if err != nil {
			return err
		}
		for i := range workflows {
			workflows[i].Description = secrets.Text(workflows[i].Description)
		}
		answer.Workflows, answer.More = &workflows, answer.More+left
	}
	if len(answer.Nodes) == 0 && (answer.Workflows == nil || len(*answer.Workflows) == 0) {
		answer.Suggestions = suggestions(types, query)
	}
	if err := app.Document(answer, answer.text); err != nil || app.JSON() || app.Quiet {
		return err
	}
	answer.hints(app.Messages())
	return nil
}

// searchWorkflows searches the saved workflows in the same way as node types. It leaves out broken ones.
func searchWorkflows(lib *library.Library, query string, limit int) (list []foundWorkflow, more int, err error) {
	found, _, err := lib.Search(query)
	if err != nil {
		return nil, 0, err
	}
	list = []foundWorkflow{}
	for _, w := range found {
		if w.Saved {
			list = append(list, foundWorkflow{w.Name, w.Description})
		}
	}
	if limit > 0 && len(list) > limit {
		list, more = list[:limit], len(list)-limit
	}
	return list, more, nil
}

// suggestions returns what to try if nothing was found.
func suggestions(types *registry.Registry, query string) (list []string) {
	if near := types.Nearest(query); len(near) > 0 {
		list = append(list, "Names contain the words: "+strings.Join(near, ", "))
	}
	return append(list,
		"Try fewer or other words; pflow-lib search without words lists everything",
		"To add the tools of an MCP server: pflow-sync add NAME -- COMMAND, then pflow-sync sync NAME")
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

func components(matches []registry.Match, secrets *redact.Redactor) []component {
	list := make([]component, len(matches))
	for i, m := range matches {
		list[i] = componentOf(m.Type, secrets)
	}
	return list
}

func componentOf(t nodetype.Type, secrets *redact.Redactor) component {
	c := component{
		Type: t.Name, Description: secrets.Text(t.Description),
		Inputs: append([]nodetype.Param{}, t.Params...), Outputs: append([]nodetype.Output{}, t.Outputs...),
		Actions: append([]string{}, t.Actions...),
	}
	for i := range c.Inputs {
		in := &c.Inputs[i]
		in.Description = secrets.Text(in.Description)
		in.Default, _ = secrets.JSON(in.Default)
		in.Enum, _ = secrets.JSON(in.Enum)
	}
	for i := range c.Outputs {
		c.Outputs[i].Description = secrets.Text(c.Outputs[i].Description)
	}
	return c
}

func (f found) text(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, n := range f.Nodes {
		_, _ = fmt.Fprintf(t, "%s\tnode\t%s\n", cells.Clean(n.Type), cells.Clean(n.Description))
	}
	if f.Workflows != nil {
		for _, wf := range *f.Workflows {
			_, _ = fmt.Fprintf(t, "%s\tworkflow\t%s\n", wf.Name, cells.Clean(wf.Description))
		}
	}
	_ = t.Flush()
}

// hints prints for people how many results were left out, and what to try.
func (f found) hints(w io.Writer) {
	if f.More > 0 {
		_, _ = fmt.Fprintf(w, "and %d more; --limit 0 shows all\n", f.More)
	}
	for _, s := range f.Suggestions {
		_, _ = fmt.Fprintf(w, "hint: %s\n", s)
	}
}
