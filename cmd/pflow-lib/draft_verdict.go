package main

import (
	"io"
	"slices"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// A limited verdict has at most maxFaults errors and maxFaults warnings, each of at most maxFault bytes.
const (
	maxFaults = 10
	maxFault  = 2000
)

// draftVerdict is what a check found out about a draft, which exists in any case. ErrorsTotal and WarningsTotal are set if the
// lists do not hold all.
type draftVerdict struct {
	Name          string         `json:"name"`
	Saved         bool           `json:"saved"` // always false
	Hidden        bool           `json:"hidden,omitempty"`
	Form          string         `json:"form"`
	Path          string         `json:"path"` // relative to the home
	Replaced      *bool          `json:"replaced,omitempty"`
	Valid         bool           `json:"valid"`
	Errors        []*fault.Fault `json:"errors,omitempty"`
	ErrorsTotal   int            `json:"errors_total,omitempty"`
	Warnings      []*fault.Fault `json:"warnings"`
	WarningsTotal int            `json:"warnings_total,omitempty"`
}

// judge checks a draft.
func judge(lib *library.Library, types *registry.Registry, draft *library.Entry) *draftVerdict {
	v := &draftVerdict{Name: draft.Name, Hidden: draft.Hidden, Form: draft.Form(), Path: draft.HomePath(), Warnings: []*fault.Fault{}}
	if draft.Hidden {
		v.Warnings = append(v.Warnings, fault.New(fault.Conflict, "The saved workflow %q hides this draft: the name stands for the saved one", draft.Name).
			Suggest("Write the draft under another name to run or save it"))
	}
	file, form := draft.Read()
	if file == nil {
		v.Errors = fault.Parts(form)
	} else {
		report := checked(lib, types, file, form)
		v.Errors, v.Warnings = report.Errors, append(v.Warnings, report.Warnings...)
	}
	v.Valid = len(v.Errors) == 0
	return v
}

// print prints the verdict, with what text writes before the warnings. If the draft is not valid, the error is the exit status 1, because
// the draft is there nevertheless.
func (v *draftVerdict) print(app *cli.App, text func(w io.Writer)) error {
	for _, f := range slices.Concat(v.Errors, v.Warnings) {
		f.Address(app.Reader)
	}
	faults := v.Errors
	v.limit(app.MaxBytes)
	if err := app.Document(v, func(w io.Writer) { text(w); printWarnings(w, v.Warnings, app.Stdout.Columns()) }); err != nil || v.Valid {
		return err
	}
	app.Complain(fault.Join(fault.Validation, v.Name+" cannot run", faults))
	return cli.Status(1)
}

// limit makes the verdict take at most the given number of bytes as JSON; 0 is no limit.
func (v *draftVerdict) limit(maxBytes int) {
	if maxBytes == 0 {
		return
	}
	errors, warnings := len(v.Errors), len(v.Warnings)
	v.Errors, v.Warnings = firstFaults(v.Errors), firstFaults(v.Warnings)
	for {
		if len(v.Errors) < errors {
			v.ErrorsTotal = errors
		}
		if len(v.Warnings) < warnings {
			v.WarningsTotal = warnings
		}
		raw, err := rawjson.Marshal(v)
		switch {
		case err != nil || len(raw) < maxBytes: // a newline follows
			return
		case len(v.Warnings) > 0:
			v.Warnings = v.Warnings[:len(v.Warnings)-1]
		case len(v.Errors) > 1:
			v.Errors = v.Errors[:len(v.Errors)-1]
		case len(v.Errors) == 1 && len(v.Errors[0].Message) > 100:
			v.Errors = []*fault.Fault{fault.New(v.Errors[0].Type, "%s", fault.Truncate(v.Errors[0].Message, 100))}
		default:
			return
		}
	}
}

// firstFaults returns the first faults of a list, each shortened.
func firstFaults(list []*fault.Fault) []*fault.Fault {
	short := []*fault.Fault{}
	for _, f := range list[:min(len(list), maxFaults)] {
		short = append(short, f.LimitBytes(maxFault))
	}
	return short
}
