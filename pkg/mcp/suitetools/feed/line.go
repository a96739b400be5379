package feed

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// Line is an event of a run, as pflow-exec watch prints it.
type Line struct {
	Run string
	// Seq is 0 for an end that is in no journal.
	Seq  int64
	Kind string
	JSON []byte
	// Workflow is the name of the run's workflow, if the feed has seen the beginning of the run.
	Workflow string
}

// ParseLine reads an event and keeps a copy of it.
func ParseLine(text []byte) Line {
	l := parse(text)
	l.JSON = bytes.Clone(text)
	return l
}

// parse reads an event, whose JSON is the text itself.
func parse(text []byte) Line {
	return Line{Run: gjson.GetBytes(text, "run").Str, Seq: gjson.GetBytes(text, "seq").Int(), Kind: gjson.GetBytes(text, "event").Str, JSON: text}
}

// Ends reports whether nothing of the run comes after the line. A run that is paused can be continued by another.
func (l Line) Ends() bool { return l.Kind == "run_finished" || l.Kind == "run_interrupted" }

// Beginning returns the name of the workflow that an event run_started has.
func (l Line) Beginning() string { return gjson.GetBytes(l.JSON, "workflow.name").Str }

// Event is what the progress of a run shows of an event.
type Event struct {
	Seq                         int64
	Kind, Node, Type, Time, Run string
	// Item reports that it is of an item of a batch, an iteration or an attempt that is repeated.
	Item bool
	// Nodes is how many the workflow has, Status and From are those of the end and of the beginning of a run.
	Nodes        int
	Status, From string
}

// Event returns what the line has for the progress of the run.
func (l Line) Event() Event {
	v := gjson.GetManyBytes(l.JSON, "node", "type", "time", "item", "iteration", "will_retry", "nodes.#", "status", "resumed_from")
	return Event{
		Seq: l.Seq, Kind: l.Kind, Run: l.Run, Node: v[0].Str, Type: v[1].Str, Time: v[2].Str,
		Item: v[3].Exists() || v[4].Int() > 1 || v[5].Bool(), Nodes: int(v[6].Int()), Status: v[7].Str, From: v[8].Str,
	}
}
