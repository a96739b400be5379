package library

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Listed is a workflow in a list. If the workflow cannot be used, Error says why and the summary is empty.
type Listed struct {
	*Entry
	Summary
	Error *fault.Fault
}

// Summary is what a list shows of a workflow's file.
type Summary struct {
	Description string
	Version     string
	// CreatedAt and UpdatedAt are zero if the file does not have them.
	CreatedAt, UpdatedAt time.Time
	// Tool is the JSON object that describes the workflow to a server which offers it as a tool.
	Tool json.RawMessage
}

func summaryOf(name string, file *workflow.File) (Summary, error) {
	tool, err := toolOf(name, file)
	return Summary{file.Workflow.Description, file.Version, file.CreatedAt, file.UpdatedAt, tool}, err
}

// List returns the saved workflows and, with drafts, the drafts too, sorted by name with the saved one first. A pattern with
// * or ? is matched against the name; otherwise the name or the description must contain each of its words. A broken file
// is listed with its fault.
func (l *Library) List(drafts bool, pattern string) ([]Listed, error) {
	matches, err := filter(pattern)
	if err != nil {
		return nil, err
	}
	s := newSurvey(l)
	list, err := s.list(drafts)
	if err != nil {
		return nil, err
	}
	if s.added > 0 {
		s.storeAgain(drafts)
	}
	return slices.DeleteFunc(list, func(e Listed) bool { return !matches(e.Name, e.Description) }), nil
}

// list returns the saved workflows and, with drafts, the drafts too, sorted by name with the saved one first.
func (s *survey) list(drafts bool) ([]Listed, error) {
	list, err := s.folder(true)
	if err != nil || !drafts {
		return list, err
	}
	saved := make(map[string]bool, len(list))
	for _, w := range list {
		saved[w.Name] = true
	}
	others, err := s.folder(false)
	if err != nil {
		return nil, err
	}
	for _, w := range others {
		w.Hidden = saved[w.Name]
		list = append(list, w)
	}
	slices.SortStableFunc(list, func(a, b Listed) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// filter returns a function that reports whether a name and a description match the pattern.
func filter(pattern string) (func(name, description string) bool, error) {
	pattern = strings.ToLower(pattern)
	if !strings.ContainsAny(pattern, "*?") {
		words := strings.Fields(pattern)
		return func(name, description string) bool {
			text := strings.ToLower(name + "\n" + description)
			return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
		}, nil
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fault.New(fault.Usage, "Invalid pattern %q: %v", pattern, err).Suggest("Use * for any text and ? for one character, or only words")
	}
	return func(name, _ string) bool {
		ok, _ := path.Match(pattern, strings.ToLower(name)) // the pattern is valid
		return ok
	}, nil
}
