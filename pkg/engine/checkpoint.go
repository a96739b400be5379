package engine

import (
	"errors"
	"io"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// Checkpoint is how far an earlier run came, read from its events. What its nodes put out is read when it is used.
type Checkpoint struct {
	Run     string
	Started *event.Event
	// settled are the last words of the nodes that came through, by their path; parts those of items and iterations.
	settled, parts map[string]event.Header
	// begun are the nodes of which some part is there: an item, an iteration, or what an inner node left.
	begun map[string]bool
	// Open are the questions that are without an answer or were answered no, answers the answers there were.
	Open map[string]bool
	// Choices are the answers that there are to each question, asked its text.
	Choices map[string][]string
	asked   map[string]string
	answers map[string]*event.Event
	// Blob fetches the run's long values.
	Blob   event.Load
	source Source
	// held are the events of marks that were read beforehand, by where they stand: they are read beside the workflow's
	// check, as long as they are not too many to be held. size is that of their lines.
	held map[int64]*event.Event
	size int
}

// maxHeld is how many bytes the lines of events have that are held.
const maxHeld = 16 << 20

// Source is a stream of events that can be read more than once.
type Source interface {
	io.Reader
	io.ReaderAt
}

// ReadCheckpoint reads the events of one run, whole or any beginning of them. The source must stay as it is for as long
// as the checkpoint is used.
func ReadCheckpoint(source Source, blob event.Load) (*Checkpoint, error) {
	c := &Checkpoint{
		settled: map[string]event.Header{}, parts: map[string]event.Header{}, begun: map[string]bool{}, Open: map[string]bool{}, Choices: map[string][]string{}, asked: map[string]string{},
		answers: map[string]*event.Event{}, Blob: blob, source: source, held: map[int64]*event.Event{},
	}
	for events := event.NewReader(source); ; {
		m, err := events.Skim()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.take(m)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.Started == nil {
		return nil, fault.New(fault.Usage, "The event stream does not begin with run_started: there is nothing to resume").
			Suggest("Run the workflow anew")
	}
	return c, nil
}

// Completed lists those of the workflow's own nodes that came through, in the file's order.
func (c *Checkpoint) Completed() []string {
	completed := []string{}
	for _, id := range c.Started.Nodes {
		if _, ok := c.settled[id]; ok {
			completed = append(completed, id)
		}
	}
	return completed
}

func (c *Checkpoint) take(m event.Header) error {
	switch {
	case m.Event == event.RunStarted, m.Event == event.ApprovalRequested, m.Event == event.ApprovalResolved:
		e, err := m.Read(c.source)
		if err != nil {
			return err
		}
		return c.takeWhole(e)
	case m.Event == event.ItemCompleted && m.Item >= 0:
		c.parts[itemKey(m.Node, m.Item)] = m
		c.begun[m.Node] = true
	case m.Event == event.IterationCompleted:
		c.parts[iterationKey(m.Node, m.Iteration)] = m
		c.begun[m.Node] = true
	case m.Settles():
		c.settled[m.Node] = m
		if c.size += m.Size; c.size <= maxHeld {
			if e, err := m.Read(c.source); err == nil { // else that is told when it is needed
				c.held[m.At] = e
			}
		}
	default:
		return nil
	}
	c.begin(m.Node)
	return nil
}

func (c *Checkpoint) takeWhole(e *event.Event) error {
	switch e.Event {
	case event.RunStarted:
		if c.Started != nil {
			return fault.New(fault.Usage, "The event stream holds more than one run").Suggest("Give the events of one run")
		}
		c.Run, c.Started = e.Run, e
	case event.ApprovalRequested:
		c.Open[e.Node], c.Choices[e.Node], c.asked[e.Node] = true, e.Choices, e.Question
	case event.ApprovalResolved:
		c.Open[e.Node] = plan.Denies(e.Answer) // who denied it may still allow it
		c.answers[e.Node] = e
		c.begin(e.Node)
	}
	return nil
}

// begin notes that the nodes around one have begun.
func (c *Checkpoint) begin(path string) {
	for around := event.Enclosing(path); around != ""; around = event.Enclosing(around) {
		c.begun[around] = true
	}
}

func itemKey(path string, item int) string { return path + "[" + strconv.Itoa(item) + "]" }

func iterationKey(path string, iteration int) string { return path + "#" + strconv.Itoa(iteration) }

// event reads what a mark is of and takes its long values over; it is nil when that cannot be read any more, or not be
// kept.
func (e *execution) event(path string, m event.Header) *event.Event {
	old, err := e.From.held[m.At], error(nil)
	if old == nil {
		old, err = m.Read(e.From.source)
	}
	if err != nil {
		e.Log.Warn("a completed node runs again", "node", m.Node, "error", err)
		return nil
	}
	if !e.adoptBlobs(path, old.Outputs) {
		return nil
	}
	if old.Outputs, err = event.Spill(old.Outputs, e.Journal.PutBlob); err != nil { // of a stream that stands alone
		e.abort(err)
		return nil
	}
	return old
}
