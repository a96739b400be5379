package library

import "github.com/pflow-suite/pflow/pkg/run/reader"

// Statistics returns the statistics of the workflow's runs, as [reader.Runs.Statistics] does. The runs of a draft do not count as those
// of a saved workflow of the same name.
func (e *Entry) Statistics() (reader.Statistics, error) {
	return reader.Open(e.lib.home).Statistics(reader.Source{Saved: e.Saved, Name: e.Name})
}

// renameRuns lets the statistics of the workflow go on under another name.
func (e *Entry) renameRuns(name string) error {
	return reader.Open(e.lib.home).Rename(reader.Source{Saved: e.Saved, Name: e.Name}, name)
}

// forgetRuns makes the statistics of another workflow with the name begin anew.
func (e *Entry) forgetRuns() error {
	return reader.Open(e.lib.home).Forget(reader.Source{Saved: e.Saved, Name: e.Name})
}
