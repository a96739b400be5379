// Package chain tells a program which runs are around it: those whose nodes have started it, directly or through other programs.
package chain

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/process"
)

const (
	// Variable is the environment variable with the ids of the runs around a process, the outermost first, separated by commas. A detached
	// start keeps it: who starts a run may end before the run, and is around it all the same.
	Variable = "PFLOW_RUNS"
	// Key is the member of an MCP call's _meta with the same text, for servers that the caller has not started.
	Key = "pflow/runs"
	// Detail is the detail of a fault with the ids of runs around a run that must not be inside them.
	Detail = "runs"
	// MaxText is the most bytes of the text. It has room for all ids that Max allows.
	MaxText = 512
	// Max is the most runs around a run.
	Max = 16
)

// Of returns the ids of the runs around a process with the given environment, the outermost first. They are not checked: a run may be of
// another home.
func Of(env []string) []string {
	return strings.FieldsFunc(process.Getenv(env, Variable), func(r rune) bool { return r == ',' })
}

// Text returns ids as the value of Variable and Key.
func Text(ids []string) string { return strings.Join(ids, ",") }
