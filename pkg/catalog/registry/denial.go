package registry

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Judge says whether settings allow a type, by all names that patterns may know it by. How the server spells a tool that is
// not registered is not known: a pattern denies it in any spelling.
func Judge(s *settings.Settings, t nodetype.Type) settings.Verdict {
	v := s.Judge(t.Name, spellings(t)...)
	if v.Allowed && t.Unregistered {
		if denied := s.Denies(t.Name, plain); !denied.Allowed {
			return denied
		}
	}
	return v
}

// spellings are the other names of a type.
func spellings(t nodetype.Type) []string {
	if t.MCP == nil {
		return nil
	}
	return []string{rawName(t.MCP.Server, t.MCP.Tool), nodetype.MCPName(t.MCP.Server, t.MCP.Tool)}
}

// plain is a pattern or a name of a tool as nodetype.MCPName spells it, with what is special in patterns as it stands.
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

// Denial says that the settings deny a node type that there is, by which pattern, and how to take that back. It is nil for
// a type that is allowed and for one that is unknown.
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
		f := fault.New(fault.Validation, "%s does not allow the node type %q: it has patterns that allow, and none of them matches", settings.File, name)
		return f.Suggest("If it shall be used: pflow-lib settings allow %s", quoted(t.Name))
	default:
		f := fault.New(fault.Validation, "%s denies the node type %q, by the pattern %q", settings.File, name, v.Pattern)
		return f.Suggest("If it shall be used: pflow-lib settings remove %s", quoted(v.Pattern))
	}
}

// quoted is a word for a shell.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
