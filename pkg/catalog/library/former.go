package library

import (
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// formerFile has the names that workflows had before, so that a hint can name the present one.
const formerFile = "renamed.json"

// maxFormer is the greatest number of names that are remembered, the newest ones.
const maxFormer = 500

// former is a name that a workflow had before.
type former struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Draft is set if From was a draft and To is the saved workflow that it became.
	Draft bool `json:"draft,omitempty"`
}

// remember records that the workflow of a name has another name now. Only a hint depends on it, so that an error is not one of the caller's.
// The caller has the lock.
func remember(l *Library, name, next string, draft bool) {
	if name == next {
		return
	}
	list := slices.DeleteFunc(formerNames(l), func(f former) bool { return f.From == name })
	list = append(list, former{name, next, draft})
	raw, err := rawjson.Marshal(list[max(0, len(list)-maxFormer):])
	if err == nil {
		_ = l.home.Write(append(raw, '\n'), 0o600, formerFile)
	}
}

// formerNames returns the recorded names, oldest first. It returns nil if the file cannot be used.
func formerNames(l *Library) (list []former) {
	raw, err := l.home.ReadFile(1<<20, formerFile)
	if err != nil || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// SuggestPresent adds to the fault of a name that no workflow has the name that its workflow has now. It reports whether that is known.
func SuggestPresent(l *Library, f *fault.Fault, name string) bool {
	list := formerNames(l)
	find := func(name string) int { return slices.IndexFunc(list, func(f former) bool { return f.From == name }) }
	first := find(name)
	if first < 0 {
		return false
	}
	present := list[first].To
	for range list { // a chain of names may be a circle
		e, err := isPresent(l, present)
		if err != nil {
			return false
		}
		if e {
			what := "The workflow %q is named %q now"
			if list[first].Draft {
				what = "The draft %q was saved as %q"
			}
			f.Suggest(what, name, present).Then(fault.Step{Do: fault.DoRun, Name: present})
			return true
		}
		next := find(present)
		if next < 0 {
			return false
		}
		present = list[next].To
	}
	return false
}

// isPresent reports whether a workflow has a name.
func isPresent(l *Library, name string) (bool, error) {
	if err := home.CheckName("workflow", name); err != nil { // a person may edit the file
		return false, err
	}
	saved, err := l.at(true, name)
	if saved != nil || err != nil {
		return saved != nil, err
	}
	draft, err := l.at(false, name)
	return draft != nil, err
}
