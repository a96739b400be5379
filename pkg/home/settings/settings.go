// Package settings is settings.json: values for inputs and servers' environments, and which node types may be used.
package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// File is the name of the settings in the home.
const File = "settings.json"

// Settings is what the user has set. The zero value sets nothing and allows everything.
type Settings struct {
	// Env supplies inputs that are not given and ${VAR} in servers' configurations. All its values are secrets.
	Env map[string]string
	// Allow and Deny are patterns for node types, as path.Match reads them. A nil Allow allows every type.
	Allow []string
	Deny  []string
	// TemplateResolutionMode is "strict", "permissive" or "" for workflows that do not say it themselves.
	TemplateResolutionMode string
	// LLM is for nodes of type llm.
	LLM LLM
}

// shape is the file's form, which upstream pflow shares. Other keys are ignored, also those that differ only in the case of
// their letters.
type shape struct {
	Env      map[string]string `json:"env"`
	Registry struct {
		Nodes struct {
			Allow []string `json:"allow"`
			Deny  []string `json:"deny"`
		} `json:"nodes"`
	} `json:"registry"`
	Runtime struct {
		TemplateResolutionMode string `json:"template_resolution_mode"`
	} `json:"runtime"`
	LLM LLM `json:"llm"`
}

// Load reads the settings. A missing file sets nothing; a broken one is a validation_error with its line, which
// repeats none of the file's values.
func Load(h *home.Home) (*Settings, error) {
	source, err := h.Read(File)
	if err != nil || source == nil {
		return &Settings{}, err
	}
	return parse(source)
}

// parse reads the file's text.
func parse(source []byte) (*Settings, error) {
	var s shape
	if !json.Valid(source) {
		return nil, broken(source, json.Unmarshal(source, &s))
	}
	if err := json.Unmarshal(exact(source), &s); err != nil {
		return nil, broken(source, err)
	}
	nodes := s.Registry.Nodes
	if err := cmp.Or(checkPatterns("allow", nodes.Allow), checkPatterns("deny", nodes.Deny)); err != nil {
		return nil, err
	}
	mode := s.Runtime.TemplateResolutionMode
	if mode != "" && mode != "strict" && mode != "permissive" {
		f := invalid("%s: runtime.template_resolution_mode must be strict or permissive, not %q", File, mode)
		f.Path = "runtime.template_resolution_mode"
		return nil, f
	}
	if err := checkLLM(&s.LLM); err != nil {
		return nil, err
	}
	return &Settings{Env: s.Env, Allow: nodes.Allow, Deny: nodes.Deny, TemplateResolutionMode: mode, LLM: s.LLM}, nil
}

// checkPatterns refuses what path.Match cannot read: a broken Deny would deny nothing.
func checkPatterns(list string, patterns []string) error {
	for i, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			where := fmt.Sprintf("registry.nodes.%s[%d]", list, i)
			f := invalid("%s: %s is no pattern: %q", File, where, p)
			f.Path = where
			return f.Suggest("Write * for any text, ? for one character and [a-z] for one of several, such as mcp-github-*")
		}
	}
	return nil
}

// Allowed says whether a node type may be used: some Allow pattern matches and no Deny pattern does. Aliases are the
// type's other names; a pattern that matches one of them matches the type.
func (s *Settings) Allowed(name string, aliases ...string) bool {
	return s.Judge(name, aliases...).Allowed
}

// Verdict says whether a node type may be used, and by which pattern of which list: none where every type may, and no
// pattern where none of the Allow patterns matches.
type Verdict struct {
	Allowed bool
	List    string // "allow", "deny" or ""
	Pattern string
}

// Judge is Allowed with its reason.
func (s *Settings) Judge(name string, aliases ...string) Verdict {
	if s.Allow == nil && s.Deny == nil {
		return Verdict{Allowed: true}
	}
	names := append([]string{name}, aliases...)
	if p, ok := matching(s.Deny, names); ok {
		return Verdict{false, "deny", p}
	}
	if s.Allow == nil {
		return Verdict{Allowed: true}
	}
	p, ok := matching(s.Allow, names)
	return Verdict{ok, "allow", p}
}

// matching is the first of the patterns that one of the names fits.
func matching(patterns, names []string) (string, bool) {
	for _, p := range patterns {
		for _, n := range names {
			if ok, _ := path.Match(p, n); ok { // Load has refused what is no pattern
				return p, true
			}
		}
	}
	return "", false
}

// Denies says which Deny pattern matches a type's name once both are spelled by spell: for a type whose own name is not
// known, and that patterns may name in any of its spellings.
func (s *Settings) Denies(name string, spell func(string) string) Verdict {
	name = spell(name)
	for _, p := range s.Deny {
		if ok, _ := path.Match(spell(p), name); ok {
			return Verdict{false, "deny", p}
		}
	}
	return Verdict{Allowed: true}
}

func invalid(format string, args ...any) *fault.Fault {
	f := fault.New(fault.Validation, format, args...)
	f.File = File
	return f
}

// broken is the fault of a file that does not decode, with the line where it stops to.
func broken(source []byte, err error) *fault.Fault {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		f := invalid("Invalid JSON in %s: %v", File, syntax)
		f.Line = lineOf(source, syntax.Offset)
		return f.Suggest("Mend line %d of %s in the home folder, or move the file away to go on without it", f.Line, File)
	}
	f := invalid("%s does not have the form of settings: %v", File, err)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what, _, _ := strings.Cut(wrong.Value, " ") // "number 1e99" repeats the value
		f.Message = fmt.Sprintf("%s: %s must hold %s, not %s", File, wrong.Field, jsonWord(wrong.Type.Kind().String()), what)
		if wrong.Field == "" {
			f.Message = fmt.Sprintf("%s must be a JSON object, not %s", File, what)
		}
		f.Path, f.Line = wrong.Field, lineOf(source, wrong.Offset)
	}
	return f.Suggest(`The form is {"env": {"NAME": "text"}, "registry": {"nodes": {"allow": ["*"], "deny": ["mcp-github-*"]}}}`)
}

// jsonWord is the JSON word for a kind of Go value.
func jsonWord(kind string) string {
	switch kind {
	case "slice":
		return "a list of texts"
	case "struct", "map":
		return "an object"
	case "float64":
		return "a number"
	default:
		return "text"
	}
}

func lineOf(source []byte, offset int64) int {
	return 1 + bytes.Count(source[:min(max(offset-1, 0), int64(len(source)))], []byte("\n"))
}
