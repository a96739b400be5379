package resumecase

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Finished returns the places of the finished steps in the whole lines of a journal, and of the questions that were answered. It tells which
// of them the run did itself: cache is the run that its cache names, or "" if that may be any.
func Finished(journal []byte, cache string) (map[string]bool, error) {
	places := map[string]bool{}
	for line := range bytes.Lines(journal) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var e struct {
			Event, Node               string
			Item                      *int
			Iteration                 int
			Handled, Cached, Outdated bool
			FromRun                   string `json:"from_run"`
			IterationDigest           string `json:"iteration_digest"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		at := e.Node
		switch {
		case e.Event == "item_completed":
			at += fmt.Sprintf("[%d]", *e.Item)
		case e.Event == "iteration_completed":
			at += fmt.Sprintf("#%d", e.Iteration)
		case e.Event == "approval_resolved":
			at += "?"
		case e.Event == "node_completed", e.Event == "node_reused", e.Event == "node_failed" && e.Handled:
		default:
			continue
		}
		last := fmt.Sprintf("%s#%d", at, e.Iteration)
		if places[at] = e.FromRun == "" || e.Cached && (cache == "" || e.FromRun == cache); e.Outdated {
			delete(places, at)
		} else if e.IterationDigest != "" {
			places[last] = places[at]
		}
	}
	return places, nil
}
