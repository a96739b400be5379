package registry

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Judge reports whether settings allow a type under all its names. The server's spelling of an unregistered tool is unknown,
// so a pattern that matches any spelling denies it.
func Judge(s *settings.Settings, t nodetype.Type) settings.Verdict {
	v := s.Judge(t.Name, spellings(t)...)
	if v.Allowed && t.Unregistered {
		if denied := s.Denies(t.Name, plain); !denied.Allowed {
			return denied
		}
	}
	return v
}

// spellings returns the other names of a type.
func spellings(t nodetype.Type) []string {
	if t.MCP == nil {
		return nil
	}
	return []string{rawName(t.MCP.Server, t.MCP.Tool), nodetype.MCPName(t.MCP.Server, t.MCP.Tool)}
}

// plain spells a pattern or the name of a tool as nodetype.MCPName does. It keeps the special characters of patterns.
func plain(pattern string) string {
	var b strings.Builder
	last, class := rune(0), false
	for _, r := range strings.ToLower(pattern) {
		class = r == '[' || class && last != ']'
		special := class || strings.ContainsRune(`*?\`, r)
		if !special && (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			r = '-'
		}
		if special || r != '-' || last != '-' {
			b.WriteRune(r)
		}
		last = r
	}
	return strings.TrimSuffix(b.String(), "-")
}

// Denial returns the fault of using a node type that the settings deny: it names the pattern and the command that allows the
// type. It returns nil if the type is allowed or unknown.
func (r *Registry) Denial(name string) *fault.Fault {
	rules, err := r.rules()
	if err != nil {
		return nil
	}
	t, ok, err := r.Known(name)
	if err != nil || !ok {
		return nil
	}
	switch v := Judge(rules, t); {
	case v.Allowed:
		return nil
	case v.Pattern == "":
		f := fault.New(fault.Validation, "%s does not allow the node type %q: none of its allow patterns matches", settings.File, name)
		return f.Suggest("Use another node type").Then(fault.ByPerson("Allow it", "pflow-lib settings allow %s", fault.ShellWord(t.Name)))
	default:
		f := fault.New(fault.Validation, "%s denies the node type %q with the pattern %q", settings.File, name, v.Pattern)
		return f.Suggest("Use another node type").Then(fault.ByPerson("Allow it", "pflow-lib settings remove %s", fault.ShellWord(v.Pattern)))
	}
}
