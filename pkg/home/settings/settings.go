// Package settings reads and changes settings.json: values for inputs and for the environments of servers, the node types that
// may be used, and defaults of nodes.
package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// File is the name of the settings in the home.
const File = "settings.json"

// Settings are the user's settings. The zero value sets nothing and allows every node type.
type Settings struct {
	// Env supplies inputs without a value, and ${VAR} in servers' configurations. All its values are secrets.
	Env map[string]string
	// Vars supplies inputs that neither the environment nor Env has. Its values are not secrets.
	Vars map[string]string
	// Allow and Deny are patterns for node types, in the syntax of path.Match. A nil Allow allows every type.
	Allow []string
	Deny  []string
	// TemplateResolutionMode is "strict", "permissive" or "". It is for workflows that do not set it.
	TemplateResolutionMode string
	// MaxOutput is how much the nodes of a run may put out, for workflows that do not set it; 0 means the default.
	MaxOutput rawjson.Bytes
	// FailDegraded gives degraded runs the exit status 1, for workflows that do not set it.
	FailDegraded bool
	// MaxRuns is how many runs of the home may be executed at the same time; 0 is no limit.
	MaxRuns int
	// ApprovalByPerson takes answers to the questions of all runs only from people.
	ApprovalByPerson bool
	// Runners are command lines for sh -c, by the names of the places where nodes can run.
	Runners map[string]string
	// LLM has the defaults of nodes of type llm.
	LLM LLM
}

// shape is the form of the file, which upstream pflow shares. Other keys are ignored, even if they differ only in case.
type shape struct {
	Env      map[string]string `json:"env"`
	Vars     map[string]string `json:"vars"`
	Registry struct {
		Nodes struct {
			Allow []string `json:"allow"`
			Deny  []string `json:"deny"`
		} `json:"nodes"`
	} `json:"registry"`
	Runtime struct {
		TemplateResolutionMode string          `json:"template_resolution_mode"`
		MaxOutput              json.RawMessage `json:"max_output"`
		FailDegraded           bool            `json:"fail_degraded"`
		MaxRuns                *int            `json:"max_runs"`
	} `json:"runtime"`
	Approval struct {
		By string `json:"by"`
	} `json:"approval"`
	Runners map[string]string `json:"runners"`
	LLM     LLM               `json:"llm"`
}

// Load reads the settings. A missing file sets nothing. For an invalid file the error is a validation_error with the line; it
// contains no value from the file.
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
	if err := json.Unmarshal(exactKeys(source), &s); err != nil {
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
	if by := s.Approval.By; by != "" && !isApprover(by) {
		f := invalid("%s: approval.by must be anyone or person, not %q", File, by)
		f.Path = "approval.by"
		return nil, f
	}
	if err := checkLLM(&s.LLM); err != nil {
		return nil, err
	}
	var most rawjson.Bytes
	if raw := s.Runtime.MaxOutput; raw != nil && most.UnmarshalJSON(raw) != nil {
		f := invalid("%s: runtime.max_output must be a size, such as 30000000 or \"30MB\"", File)
		f.Path = "runtime.max_output"
		return nil, f
	}
	for _, name := range slices.Sorted(maps.Keys(s.Runners)) {
		if f := CheckRunner(name, s.Runners[name]); f != nil {
			f.Message, f.File, f.Path = File+": "+f.Message, File, "runners."+name
			return nil, f
		}
	}
	maxRuns := 0
	if n := s.Runtime.MaxRuns; n != nil {
		if maxRuns = *n; maxRuns < 1 {
			f := invalid("%s: runtime.max_runs must be at least 1, not %d", File, maxRuns)
			f.Path = "runtime.max_runs"
			return nil, f.Suggest("Leave it out for no limit")
		}
	}
	return &Settings{
		Env: s.Env, Vars: s.Vars, Allow: nodes.Allow, Deny: nodes.Deny, TemplateResolutionMode: mode, MaxOutput: most,
		FailDegraded: s.Runtime.FailDegraded, MaxRuns: maxRuns, ApprovalByPerson: s.Approval.By == byPerson, Runners: s.Runners, LLM: s.LLM,
	}, nil
}

// byPerson is the value of approval.by that leaves all answers to people.
const byPerson = "person"

func isApprover(text string) bool { return text == "anyone" || text == byPerson }

// checkPatterns returns an error for an invalid pattern, which would match nothing.
func checkPatterns(list string, patterns []string) error {
	for i, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			where := fmt.Sprintf("registry.nodes.%s[%d]", list, i)
			f := invalid("%s: %s is not a valid pattern: %q", File, where, p)
			f.Path = where
			return f.Suggest("Use * for any text, ? for one character and [a-z] for one of several, such as mcp-github-*")
		}
	}
	return nil
}

// Allowed reports whether a node type may be used: no Deny pattern matches, and an Allow pattern does or Allow is nil. A pattern
// that matches an alias matches the type.
func (s *Settings) Allowed(name string, aliases ...string) bool {
	return s.Judge(name, aliases...).Allowed
}

// Verdict reports whether a node type may be used, and the list and pattern that decide it. List is "" if every type may be
// used. Pattern is "" if none of the Allow patterns matches.
type Verdict struct {
	Allowed bool
	List    string // "allow", "deny" or ""
	Pattern string
}

// Judge is like Allowed, but also returns the reason.
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

// matching returns the first pattern that matches one of the names.
func matching(patterns, names []string) (string, bool) {
	for _, p := range patterns {
		for _, n := range names {
			if ok, _ := path.Match(p, n); ok { // Load has checked the patterns
				return p, true
			}
		}
	}
	return "", false
}

// Denies reports whether a Deny pattern matches a type's name after spell has been applied to both. It is for a type whose
// spelling is unknown, which patterns may name in any spelling.
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

// broken returns the fault of a file that cannot be decoded, with the line of the problem.
func broken(source []byte, err error) *fault.Fault {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		f := invalid("Invalid JSON in %s: %v", File, syntax)
		f.Line = lineOf(source, syntax.Offset)
		return f.Suggest("Correct line %d of %s in the home folder, or move the file away to continue without it", f.Line, File)
	}
	f := invalid("%s is not valid: %v", File, err)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		path, must, _ := rawjson.Mistyped(source, err)
		f.Message = fmt.Sprintf("%s: %s must be %s", File, path, must)
		if path == "" {
			f.Message = fmt.Sprintf("%s must be %s", File, must)
		}
		f.Path, f.Line = path, lineOf(source, wrong.Offset)
	}
	return f.Suggest(`Use the form {"env": {"NAME": "text"}, "registry": {"nodes": {"allow": ["*"], "deny": ["mcp-github-*"]}}}`)
}

func lineOf(source []byte, offset int64) int {
	return 1 + bytes.Count(source[:min(max(offset-1, 0), int64(len(source)))], []byte("\n"))
}
