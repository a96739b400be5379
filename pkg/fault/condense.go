package fault

import (
	"maps"
	"slices"
)

// condense removes from the Errors what the fault or an earlier one of them has too, and from the fault what the Errors have. It
// removes the line of a file that a terminal shows as well: line, column and path name the place. It changes the fault in place.
func (f *Fault) condense() {
	f.Details = without(f.Details, "mark")
	if len(f.Errors) == 0 {
		return
	}
	missing, suggested := map[string]bool{}, map[string]bool{}
	var available [][]string
	for _, e := range f.Errors {
		e.Details = without(e.Details, "text")
		for _, name := range e.Missing {
			missing[name] = true
		}
		e.Suggestions = slices.DeleteFunc(slices.Clone(e.Suggestions), func(text string) bool {
			said := suggested[text]
			suggested[text] = true
			return said
		})
		same := func(earlier []string) bool { return slices.Equal(earlier, e.Available) }
		if len(e.Available) > 0 && slices.ContainsFunc(available, same) {
			e.Available, e.AvailableTotal = nil, 0
		}
		if len(available) < MaxAvailable { // so that many errors do not take the square of their number
			available = append(available, e.Available)
		}
	}
	f.Missing = slices.DeleteFunc(slices.Clone(f.Missing), func(name string) bool { return missing[name] })
	f.liftFile()
}

// liftFile moves a file that all Errors have to the fault.
func (f *Fault) liftFile() {
	file := f.Errors[0].File
	if f.File != "" && f.File != file || slices.ContainsFunc(f.Errors, func(e *Fault) bool { return e.File != file }) {
		return
	}
	f.File = file
	for _, e := range f.Errors {
		e.File = ""
	}
}

// without returns details without one of them.
func without(details map[string]any, key string) map[string]any {
	if _, ok := details[key]; !ok {
		return details
	}
	details = maps.Clone(details)
	delete(details, key)
	return details
}
