package veloflux

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// NameStyle is a style of tool names.
type NameStyle string

// The styles: streams.list, streams_list, or each tool under both names. MCP allows dots, but some clients do not.
const (
	NamesDot        NameStyle = "dot"
	NamesUnderscore NameStyle = "underscore"
	NamesBoth       NameStyle = "both"
)

// VerificationTools is a name for the tools that verify SQL and describe what it can use, in Options.Tools and
// Options.ExcludeTools. They keep no pipeline, and change no pipeline of others.
const VerificationTools = "verification"

// verificationTools returns the dotted names of the tools that VerificationTools stands for.
func verificationTools() []string {
	return []string{"catalog.functions", "catalog.syntax_capabilities", "functions.describe", verifyTool, "streams.describe", "streams.list"}
}

// names returns the names of a tool in this style.
func (s NameStyle) names(t *Tool) []string {
	underscored := strings.ReplaceAll(t.dotted, ".", "_")
	switch s {
	case NamesUnderscore:
		return []string{underscored}
	case NamesBoth:
		return []string{t.dotted, underscored}
	}
	return []string{t.dotted}
}

// dotted returns a tool's name with a dot, given in either style. No tool name has an underscore before its dot.
func dotted(name string) string {
	if strings.Contains(name, ".") {
		return name
	}
	return strings.Replace(name, "_", ".", 1)
}

// selected returns the tools to offer, sorted by name, and for the others the reason why they are hidden.
func (o *Options) selected(all []Tool) (offered []Tool, hidden map[string]string, err error) {
	if !slices.Contains([]NameStyle{"", NamesDot, NamesUnderscore, NamesBoth}, o.ToolNames) {
		return nil, nil, fault.New(fault.Usage, "%q is not a style of tool names", o.ToolNames).Suggest("Use dot, underscore or both")
	}
	only, err := known(o.Tools, all)
	if err != nil {
		return nil, nil, err
	}
	without, err := known(o.ExcludeTools, all)
	if err != nil {
		return nil, nil, err
	}
	hidden = map[string]string{}
	spell := underscores(all)
	for _, t := range all {
		switch {
		case o.ReadOnly && !t.ReadOnly:
			hidden[t.dotted] = "it changes the Manager, and only reading is allowed (read-only)"
		case len(only) > 0 && !slices.Contains(only, t.dotted):
			hidden[t.dotted] = "it is not among the selected ones (tools)"
		case slices.Contains(without, t.dotted):
			hidden[t.dotted] = "it is excluded (exclude-tools)"
		default:
			for _, name := range o.ToolNames.names(&t) {
				t.Name = name
				offered = append(offered, t.named(spell))
			}
		}
	}
	slices.SortFunc(offered, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return offered, hidden, nil
}

// underscores returns a replacer that writes the tools' names in a text with underscores.
func underscores(all []Tool) *strings.Replacer {
	var pairs []string
	for _, t := range all {
		pairs = append(pairs, t.dotted, NamesUnderscore.names(&t)[0])
	}
	return strings.NewReplacer(pairs...)
}

// known returns the dotted names of tools given in either style, or by the name of a set. It returns a fault if a tool does
// not exist.
func known(names []string, all []Tool) ([]string, error) {
	var list, available []string
	for _, t := range all {
		available = append(available, t.dotted)
	}
	for _, name := range names {
		switch name = strings.TrimSpace(name); {
		case name == "":
		case name == VerificationTools:
			list = append(list, verificationTools()...)
		case slices.Contains(available, dotted(name)):
			list = append(list, dotted(name))
		default:
			f := fault.New(fault.Usage, "There is no tool %q to select or exclude", name)
			f.Available = append(available, VerificationTools)
			if near, ok := fault.Nearest(dotted(name), f.Available); ok {
				f.Suggest("Did you mean %q?", near)
			}
			return nil, f.Suggest("The tools are %s; %s stands for %s", strings.Join(available, ", "), VerificationTools, strings.Join(verificationTools(), ", "))
		}
	}
	return list, nil
}

// Tools returns the tools that a runtime with the given options offers, sorted by name. It returns a fault if a tool or a
// style is unknown.
func Tools(o Options) ([]Tool, error) {
	tools, _, err := o.selected(allTools())
	return tools, err
}
