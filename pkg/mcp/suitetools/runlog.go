package suitetools

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// observer returns what is called with the events of the run that a call waits for: the progress of the call, and the log if it takes
// progress. It returns nil if neither does.
func (w *awaiting) observer(ctx context.Context, run string) func(line []byte) {
	log := w.front.Suite.Log
	logs := w.arguments.logged && log.Enabled(ctx, slog.LevelInfo)
	switch {
	case logs && w.shown != nil:
		return func(line []byte) {
			w.shown.apply(line)
			logProgress(log, run, line)
		}
	case logs:
		return func(line []byte) { logProgress(log, run, line) }
	case w.shown != nil:
		return w.shown.apply
	}
	return nil
}

// logProgress logs an event of a node at the level info.
func logProgress(log *slog.Logger, run string, line []byte) {
	fields := gjson.GetManyBytes(line, "event", "node", "item", "runs_on", "message", "error.message")
	if kind := fields[0].Str; strings.HasPrefix(kind, "node_") || strings.HasPrefix(kind, "item_") || strings.HasPrefix(kind, "iteration_") {
		attributes := []any{"run", run, "event", kind, "node", fields[1].Str}
		for i, name := range []string{"item", "runs_on", "message", "error"} {
			if value := fields[i+2]; value.Exists() {
				attributes = append(attributes, name, fault.Truncate(value.String(), maxLogged))
			}
		}
		log.Info("a node of a run", attributes...)
	}
}

// maxLogged is the most bytes of a message about a run in the log.
const maxLogged = 2000

// logFailure logs why a run has failed, at the level warn, if the call is logged.
func (w *awaiting) logFailure(run string, document json.RawMessage) {
	fields := gjson.GetManyBytes(document, "status", "checkpoint.failed_node", "error.type", "error.message", "error.details")
	if !w.arguments.logged || !slices.Contains([]string{"failed", "timed_out", "interrupted"}, fields[0].Str) {
		return
	}
	w.front.Suite.Log.Warn("a run has failed", "run", run, "status", fields[0].Str, "node", fields[1].Str, "type", fields[2].Str,
		"error", fault.Truncate(fields[3].Str, maxLogged), "details", fault.Truncate(fields[4].Raw, maxLogged))
}
