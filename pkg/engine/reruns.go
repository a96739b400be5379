package engine

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// readReruns reads the counts of the run and of those that it resumes.
func (c *Checkpoint) readReruns() error {
	if c.Started.Reruns == nil {
		return nil
	}
	plain, err := event.Plain(c.Started.Reruns, c.Blob)
	if err == nil {
		err = json.Unmarshal(plain, &c.reruns)
	}
	if err != nil || c.reruns == nil {
		return fault.New(fault.Protocol, "What was asked to run again before run %s cannot be read", c.Run).Suggest("Start a new run")
	}
	return nil
}

// rerunsOf returns how often somebody has asked to run a node again that had ended: the node itself, or one around it. The
// checkpoint may be nil.
func (c *Checkpoint) rerunsOf(path string) (count int) {
	if c == nil || len(c.reruns) == 0 {
		return 0
	}
	for ; path != ""; path = event.Enclosing(path) {
		count += c.reruns[path]
	}
	return count
}

// rerunsEvent returns the counts as run_started has them, or nil.
func (c *Checkpoint) rerunsEvent(s *store) (json.RawMessage, error) {
	if c == nil || len(c.reruns) == 0 {
		return nil, nil
	}
	raw, err := rawjson.Marshal(c.reruns)
	if err != nil {
		return nil, fault.From(err)
	}
	kept, _, err := s.keep(event.Escape(raw))
	return kept, err
}
