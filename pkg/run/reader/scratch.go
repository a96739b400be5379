package reader

import "github.com/pflow-suite/pflow/pkg/run/journal"

// Scratch makes a folder of the home for files that a new run reads at its start, and returns its path. The caller removes it; one that a
// killed process has left is removed when runs are collected.
func (r *Runs) Scratch() (path string, err error) { return journal.Scratch(r.home) }
