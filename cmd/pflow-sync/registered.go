package main

import (
	"errors"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// registeredTools are the node types that are tools.
type registeredTools struct {
	// types are sorted by name.
	types []nodetype.Type
	// unknown is true if the registry or the settings cannot be used, so that there is no list of tools.
	unknown bool
	// warnings are what could not be read.
	warnings []*fault.Fault
}

// findTools returns the tools in the registry. A registry, settings or entries that cannot be used are warnings, not errors.
func findTools(r *registry.Registry) (found registeredTools, err error) {
	err = r.Find(registry.Query{}, func(f *registry.Found) error {
		found = registeredTools{}
		if f.Fault != nil {
			found.unknown, found.warnings = true, []*fault.Fault{f.Fault}
			return nil
		}
		broken := 0
		for i := range f.Len() {
			t, err := f.Type(i)
			entry, isFault := errors.AsType[*fault.Fault](err)
			switch {
			case err != nil && !isFault:
				return err
			case err == nil && t.MCP != nil:
				found.types = append(found.types, t)
			case err != nil:
				if broken++; broken == 1 {
					found.warnings = append(found.warnings, entry)
				}
			}
		}
		if broken > 1 {
			found.warnings = append(found.warnings, fault.New(fault.Validation, "%d more entries of the registry are broken", broken-1))
		}
		return nil
	})
	return found, err
}

// warn returns the warnings for a list, shortened for --max-bytes. Without a page, which has a place for them, it writes them to
// standard error.
func (t *registeredTools) warn(app *cli.App, f *pageFlags) []*fault.Fault {
	limits, paged := f.limits(app)
	if !paged || !app.JSON() {
		for _, w := range t.warnings {
			app.Warn("%s", w.Message)
		}
	}
	return briefly(t.warnings, limits.Bytes)
}

// briefly returns warnings that take at most about a quarter of the given number of bytes, 0 for any number: only their types, and
// the beginnings of their messages.
func briefly(warnings []*fault.Fault, most int) []*fault.Fault {
	if most == 0 || page.Size(warnings) <= most/4 {
		return warnings
	}
	var short []*fault.Fault
	for i, w := range warnings {
		if i == 4 {
			break
		}
		short = append(short, &fault.Fault{Type: w.Type, Message: page.Cut(w.Message, most/16)})
	}
	return short
}
