package engine

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/plan"
)

// Checkpoint is how far an earlier run came, read from its events.
type Checkpoint struct {
	Run     string
	Started *event.Event
	// Settled are the last words of the nodes that came through, by their path; parts those of items and iterations.
	Settled map[string]*event.Event
	parts   map[string]*event.Event
	// begun are the nodes of which some part is there: an item, an iteration, or what an inner node left.
	begun map[string]bool
	// Open are the questions that are without an answer or were answered no, answers the answers there were.
	Open map[string]bool
	// Choices are the answers that there are to each question.
	Choices map[string][]string
	answers map[string]*event.Event
	// Blob fetches the run's long values.
	Blob event.Load
}

// ReadCheckpoint reads the events of one run, whole or any beginning of them.
func ReadCheckpoint(r io.Reader, blob event.Load) (*Checkpoint, error) {
	c := &Checkpoint{
		Settled: map[string]*event.Event{}, parts: map[string]*event.Event{}, begun: map[string]bool{}, Open: map[string]bool{}, Choices: map[string][]string{},
		answers: map[string]*event.Event{}, Blob: blob,
	}
	events := event.NewReader(r)
	for {
		e, _, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if e.Event == event.RunStarted {
			if c.Started != nil {
				return nil, fault.New(fault.Usage, "The event stream holds more than one run").Suggest("Give the events of one run")
			}
			c.Run, c.Started = e.Run, e
			continue
		}
		c.take(e)
	}
	if c.Started == nil {
		return nil, fault.New(fault.Usage, "The event stream does not begin with run_started: there is nothing to resume").
			Suggest("Run the workflow anew")
	}
	return c, nil
}

func (c *Checkpoint) take(e *event.Event) {
	switch {
	case e.Event == event.ItemCompleted && e.Item != nil:
		c.parts[itemKey(e.Node, *e.Item)] = e
		c.begun[e.Node] = true
	case e.Event == event.IterationCompleted:
		c.parts[iterationKey(e.Node, e.Iteration)] = e
		c.begun[e.Node] = true
	case e.Event == event.ApprovalRequested:
		c.Open[e.Node], c.Choices[e.Node] = true, e.Choices
		return
	case e.Event == event.ApprovalResolved:
		c.Open[e.Node] = plan.Denies(e.Answer) // who denied it may still allow it
		c.answers[e.Node] = e
	case e.Settles():
		c.Settled[e.Node] = e
	default:
		return
	}
	for path := e.Node; ; { // the nodes around it have begun
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return
		}
		path = path[:i]
		c.begun[owner(path)] = true
	}
}

// owner is the path of the node whose sub-workflow has a path, without the item or iteration at its end.
func owner(path string) string {
	last := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.IndexAny(last, "[#"); i >= 0 {
		return path[:len(path)-len(last)+i]
	}
	return path
}

func itemKey(path string, item int) string { return path + "[" + strconv.Itoa(item) + "]" }

func iterationKey(path string, iteration int) string { return path + "#" + strconv.Itoa(iteration) }
