package main

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type allowCommand struct {
	Patterns []string `arg:"" name:"pattern" help:"Names of node types; * stands for any text, ? for one character." complete:"type"`
	Only     bool     `help:"Allow nothing else."`
}

// Help returns more text for --help.
func (allowCommand) Help() string {
	return `By default every node type is allowed. With a list of allowed patterns, a type must match one of them. A type that matches a
denied pattern is never allowed. This command removes its patterns from the denied ones. With --only they become the whole list
of allowed patterns.`
}

type denyCommand struct {
	Patterns []string `arg:"" name:"pattern" help:"Names of node types; * stands for any text, ? for one character." complete:"type"`
}

type unlistCommand struct {
	Patterns []string `arg:"" name:"pattern" help:"Patterns as the settings have them."`
}

// Run adds patterns to the allowed ones.
func (c *allowCommand) Run(app *cli.App) error {
	if err := checkPatterns(c.Patterns); err != nil {
		return err
	}
	return changeLists(app, func(l *lists) error {
		l.deny = without(l.deny, c.Patterns)
		switch {
		case c.Only:
			l.allow = slices.Clone(c.Patterns)
		case l.allow != nil: // without a list all types are allowed
			l.allow = with(l.allow, c.Patterns)
		}
		return nil
	})
}

// Run adds patterns to the denied ones.
func (c *denyCommand) Run(app *cli.App) error {
	if err := checkPatterns(c.Patterns); err != nil {
		return err
	}
	return changeLists(app, func(l *lists) error {
		l.deny = with(l.deny, c.Patterns)
		return nil
	})
}

// Run removes patterns from both lists.
func (c *unlistCommand) Run(app *cli.App) error {
	return changeLists(app, func(l *lists) error {
		all := slices.Concat(l.allow, l.deny)
		for _, p := range c.Patterns {
			if slices.Contains(all, p) {
				continue
			}
			f := fault.New(fault.NotFound, "The pattern %q is neither allowed nor denied", p)
			f.Offer(p, all)
			if near, ok := fault.Nearest(p, all); ok {
				f.Suggest("Did you mean %q?", near)
			}
			return f.Then(fault.Command("See the patterns", "pflow-lib settings show"), fault.Command("See which one decides", "pflow-lib settings check NODE_TYPE"))
		}
		l.allow, l.deny = without(l.allow, c.Patterns), without(l.deny, c.Patterns)
		return nil
	})
}

// checkPatterns returns an error for an invalid pattern, or an empty one, which a shell may have made.
func checkPatterns(patterns []string) error {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return fault.New(fault.Usage, "Invalid pattern %q", p).Suggest("Use * for any text, ? for one character and [a-z] for one of several, such as 'mcp-github-*'")
		}
	}
	return nil
}

// lists are the patterns. The field allow is nil if there is no such list.
type lists struct{ allow, deny []string }

// ruled is the result of a command that changes them.
type ruled struct {
	applied
	Allow []string `json:"allow"`
	Deny  []string `json:"deny"`
}

func changeLists(app *cli.App, edit func(*lists) error) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	answer := ruled{applied: applied{Success: true}}
	answer.Changed, err = settings.Change(app.Context, h, func(d *settings.Document) error {
		before := lists{d.Texts("registry", "nodes", "allow"), d.Texts("registry", "nodes", "deny")}
		after := before
		if err := edit(&after); err != nil {
			return err
		}
		answer.Allow, answer.Deny = append([]string{"*"}, after.allow...), append([]string{}, after.deny...)
		if after.allow != nil {
			answer.Allow = after.allow
		}
		if !slices.Equal(before.allow, after.allow) {
			if err := set(d, after.allow, "allow"); err != nil {
				return err
			}
		}
		if !slices.Equal(before.deny, after.deny) {
			return set(d, after.deny, "deny")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return app.Document(answer, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "allowed: %s\ndenied: %s\n", words(answer.Allow), words(answer.Deny))
	})
}

func set(d *settings.Document, list []string, name string) error {
	raw, err := rawjson.Marshal(list)
	if err != nil {
		return err
	}
	return d.Set(raw, "registry", "nodes", name)
}

func words(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, " ")
}

// with returns the list with the texts of more that it does not have.
func with(list, more []string) []string {
	list = slices.Clone(list)
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

func without(list, less []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(p string) bool { return slices.Contains(less, p) })
}

type mayCommand struct {
	Type string `arg:"" name:"node-type" help:"The node type." complete:"type"`
}

// may is the result. Pattern decides, and By is its list; both are "" if every type may be used.
type may struct {
	Type    string `json:"type"`
	Known   bool   `json:"known"`
	Allowed bool   `json:"allowed"`
	By      string `json:"by,omitempty"`
	Pattern string `json:"pattern,omitempty"`
}

// Run prints whether the type may be used. For an unknown type only the name counts.
func (c *mayCommand) Run(app *cli.App) error {
	h, s, err := loadSettings(app)
	if err != nil {
		return err
	}
	t, known, err := registry.Open(h).Known(c.Type)
	if err != nil {
		return err
	}
	name, v := c.Type, s.Judge(c.Type)
	if known {
		name, v = t.Name, registry.Judge(s, t)
	}
	answer := may{Type: name, Known: known && !t.Unregistered, Allowed: v.Allowed, Pattern: v.Pattern}
	if v.List != "" {
		answer.By = "registry.nodes." + v.List
	}
	return app.Document(answer, func(w io.Writer) { _, _ = fmt.Fprintln(w, answer.text()) })
}

func (m may) text() string {
	text := m.Type + " is "
	if !m.Known {
		text = m.Type + " is unknown, and would be "
	}
	switch {
	case !m.Allowed && m.Pattern != "":
		return text + "denied by the pattern " + m.Pattern
	case !m.Allowed:
		return text + "denied: none of the allowed patterns matches"
	case m.Pattern != "":
		return text + "allowed by the pattern " + m.Pattern
	}
	return text + "allowed"
}
