package engine

import (
	"maps"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Answers returns the answers that were given to the questions about nodes, by the paths of the nodes. Those that were given
// beforehand count too, unless their question is open.
func (c *Checkpoint) Answers() map[string]string {
	given := map[string]string{}
	maps.Copy(given, c.Started.Answers)
	answered := map[string]bool{}
	for _, events := range []map[string]*event.Event{c.answers, c.ownAnswers} {
		for path, e := range events {
			given[path] = e.Answer
			answered[path] = !c.Open[path] || e.Denies()
		}
	}
	for path := range c.Open {
		if c.Open[path] && !answered[path] {
			delete(given, path)
			delete(given, event.GenericPath(path))
		}
	}
	return given
}

// Answered reports whether a node that asks itself was given an answer.
func (c *Checkpoint) Answered(path, answer string) bool {
	e := c.ownAnswers[path]
	return e != nil && (e.Answer == answer || rawjson.Equal(e.Answer, answer))
}
