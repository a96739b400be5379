package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/form"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// Checkpoint is how far an earlier run came, read from its events. Its maps are keyed by node paths. The outputs of its
// nodes are read when they are used.
type Checkpoint struct {
	Run string
	// Started is the run_started event.
	Started *event.Event
	// settled has the last events of settled nodes, parts the events of items and iterations (see itemKey, iterationKey).
	settled, parts map[string]record
	// failed has the nodes with an item that failed for good.
	failed map[string]bool
	// begun has the nodes that have a part in the checkpoint: an item, an iteration, or an event of an inner node.
	begun map[string]bool
	// Open has the questions that are unanswered or were answered no.
	Open map[string]bool
	// Choices has the valid answers to each question.
	Choices map[string][]string
	// asked has the text of each question, params the parameters of its node, answers its answer.
	asked   map[string]string
	params  map[string]json.RawMessage
	answers map[string]*event.Event
	// anyAnswer has the questions to which any text is an answer, and forms those that are answered with an object. own has the questions that nodes have asked themselves, and
	// ownAnswers their answers.
	anyAnswer       map[string]bool
	forms           map[string]form.Form
	own, ownAnswers map[string]*event.Event
	// denied has the nodes that a person has denied, in this run or in one before, and that no person has allowed since.
	denied map[string]event.Refusal
	// Earlier returns the checkpoint of a run before this one, or nil if that is gone. It may be nil.
	Earlier func(run string) *Checkpoint
	// expanded has the nodes and frames whose inside was looked for in earlier runs. inside has the places inside of nodes and frames, once
	// a later checkpoint has asked for them.
	expanded map[string]bool
	inside   map[string][]string
	// Blob fetches the run's long values.
	Blob   event.Load
	source Source
	// reruns counts how often somebody has asked to run a node again that had ended.
	reruns map[string]int
	// outdated has the nodes that only Config.Only may use: a node before them runs again.
	outdated map[string]bool

	// spent is what the run and those that it continues have spent.
	spent event.Spending

	// held has events that were read beforehand, by their place in the source: the checkpoint is read while the workflow is
	// checked. size is the total size of their lines, at most maxHeld.
	held map[int64]*event.Event
	size int
}

// record is an event of a checkpoint.
type record struct {
	event.Header
	// of is the checkpoint that has the event: the one with the record, or that of an earlier run.
	of *Checkpoint
}

// read reads the whole event.
func (r record) read() (*event.Event, error) {
	if e := r.of.held[r.At]; e != nil {
		return e, nil
	}
	return r.Read(r.of.source)
}

// maxHeld is the most bytes of events that are held in memory.
const maxHeld = 16 << 20

// Source is a stream of events that can be read repeatedly.
type Source interface {
	io.Reader
	io.ReaderAt
}

// ReadCheckpoint reads the events of one run, or any prefix of them. The source must not change while the checkpoint is in
// use.
func ReadCheckpoint(source Source, blob event.Load) (*Checkpoint, error) {
	c := &Checkpoint{
		settled: map[string]record{}, parts: map[string]record{}, failed: map[string]bool{}, begun: map[string]bool{},
		reruns: map[string]int{}, outdated: map[string]bool{}, expanded: map[string]bool{},
		Open: map[string]bool{}, Choices: map[string][]string{}, asked: map[string]string{}, params: map[string]json.RawMessage{}, answers: map[string]*event.Event{}, anyAnswer: map[string]bool{}, forms: map[string]form.Form{}, denied: map[string]event.Refusal{}, own: map[string]*event.Event{}, ownAnswers: map[string]*event.Event{},
		Blob: blob, source: source, held: map[int64]*event.Event{},
	}
	var admitted, last event.Header
	var usage *event.Usage
	for events := event.NewReader(source); ; {
		h, err := events.Skim()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.add(h)
		}
		if err != nil {
			return nil, err
		}
		if last = h; h.Usage != nil {
			usage = h.Usage
		}
		if h.Event == event.RunAdmitted {
			admitted = h
		}
	}
	if c.Started == nil {
		return nil, fault.New(fault.Usage, "The event stream does not begin with run_started: there is nothing to resume").
			Suggest("Start a new run")
	}
	if err := c.spend(usage, admitted, last); err != nil {
		return nil, err
	}
	return c, nil
}

// spend sets what is spent, from the run's use of language models, from the event with which it was admitted, if it had to wait for
// that, and from its last event.
func (c *Checkpoint) spend(usage *event.Usage, admitted, last event.Header) error {
	began := c.Started.Time
	if admitted.Event != "" {
		e, err := admitted.Read(c.source)
		if err != nil {
			return err
		}
		began = e.Time
	}
	e, err := last.Read(c.source)
	if err != nil {
		return err
	}
	took := max(0, e.Time.Sub(began))
	switch {
	case e.DurationMS != nil && e.IsTerminal():
		took = time.Duration(*e.DurationMS * float64(time.Millisecond))
	case e.Event == event.RunQueued:
		took = 0
	}
	if c.spent = event.SpendingOf(usage, took); c.Started.Spent != nil {
		c.spent = c.spent.Plus(*c.Started.Spent)
	}
	return nil
}

// firstRun returns the id of the run that the chain of resumes began with. Older streams do not name it; then the run that
// this one resumed stands for it.
func (c *Checkpoint) firstRun() string {
	return cmp.Or(c.Started.FirstRun, c.Started.ResumedFrom, c.Run)
}

// Completed returns the ids of the workflow's own nodes that are settled, in the order of the file.
func (c *Checkpoint) Completed() []string {
	completed := []string{}
	for _, id := range c.Started.Nodes {
		if _, ok := c.settled[id]; ok {
			completed = append(completed, id)
		}
	}
	return completed
}

// add adds the event of a header.
func (c *Checkpoint) add(h event.Header) error {
	switch {
	case h.Event == event.RunStarted, h.Event == event.ApprovalRequested, h.Event == event.ApprovalResolved:
		e, err := h.Read(c.source)
		if err != nil {
			return err
		}
		return c.addEvent(e)
	case h.Event == event.ItemCompleted && h.Item >= 0:
		c.parts[itemKey(h.Node, h.Item)] = record{h, c}
		c.begun[h.Node] = true
	case h.Event == event.IterationCompleted:
		c.parts[iterationKey(h.Node, h.Iteration)] = record{h, c}
		c.begun[h.Node] = true
	case h.Event == event.NodeFailed && h.Item >= 0 && !h.WillRetry:
		c.failed[h.Node] = true
		return nil
	case h.Settles():
		c.settled[h.Node] = record{h, c}
		delete(c.own, h.Node) // if the node runs again, it begins anew
		if c.size += h.Size; c.size <= maxHeld {
			if e, err := h.Read(c.source); err == nil { // else the error is reported when the event is used
				c.held[h.At] = e
			}
		}
	default:
		return nil
	}
	c.markBegun(h.Node)
	return nil
}

// addEvent adds an event that was read as a whole.
func (c *Checkpoint) addEvent(e *event.Event) error {
	switch e.Event {
	case event.RunStarted:
		if c.Started != nil {
			return fault.New(fault.Usage, "The event stream holds more than one run").Suggest("Give the events of one run")
		}
		if e.Workflow == nil {
			return fault.New(fault.Usage, "The first event of the stream names no workflow: it is not what a run has written").
				Suggest("Give the events as the run has printed them").Then(fault.Step{Do: fault.DoEvents, Run: "RUN"})
		}
		c.Run, c.Started = e.Run, e
		maps.Copy(c.denied, e.Denied)
		return c.readReruns()
	case event.ApprovalRequested:
		c.Open[e.Node], c.Choices[e.Node], c.asked[e.Node] = true, e.Choices, e.Question
		c.params[e.Node], c.anyAnswer[e.Node], c.forms[e.Node] = e.Params, e.AnyAnswer, form.Form(e.Fields)
		if e.State != nil {
			c.own[e.Node] = e
			delete(c.ownAnswers, e.Node)
			c.markBegun(e.Node)
		}
	case event.ApprovalResolved:
		c.Open[e.Node] = e.Denies() // a denied node may still be allowed
		c.note(e)
		if c.own[e.Node] != nil {
			c.ownAnswers[e.Node] = e
		} else {
			c.answers[e.Node] = e
		}
		c.markBegun(e.Node)
	}
	return nil
}

// SameQuestion reports whether the open question about a node was also open in another checkpoint, which may be nil: with the same text, and
// about the same parameters.
func (c *Checkpoint) SameQuestion(other *Checkpoint, path string) bool {
	return other != nil && c.Open[path] && other.Open[path] && c.asked[path] == other.asked[path] && bytes.Equal(c.params[path], other.params[path])
}

// note notes a person's answer if it denies, or allows what one has denied. The numbers of items and iterations may stand for others later,
// so there only an answer to the same question counts.
func (c *Checkpoint) note(e *event.Event) {
	old, denied := c.denied[e.Node]
	switch {
	case !e.Person:
	case e.Answer == event.Denial:
		c.denied[e.Node] = event.Refusal{By: e.By, InputDigest: e.InputDigest}
	case denied && (event.GenericPath(e.Node) == e.Node || old.InputDigest == e.InputDigest):
		delete(c.denied, e.Node)
	}
}

// denials returns the nodes that a person has denied, by their paths. The checkpoint may be nil.
func (c *Checkpoint) denials() map[string]event.Refusal {
	if c == nil {
		return nil
	}
	return c.denied
}

// DeniedBy returns who has denied a node, or it in another item or iteration, if that was a person and no person has allowed it since. Else it
// returns "". The checkpoint may be nil.
func (c *Checkpoint) DeniedBy(path string) string {
	denied, general := c.denials(), event.GenericPath(path)
	for _, other := range slices.Sorted(maps.Keys(denied)) {
		if event.GenericPath(other) == general {
			return denied[other].By
		}
	}
	return ""
}

// Question returns the text of the question about a node.
func (c *Checkpoint) Question(path string) string { return c.asked[path] }

// Accepts reports whether a text is an answer to the question about a node, if that is open.
func (c *Checkpoint) Accepts(path, answer string) bool {
	return c.Open[path] && accepts(answer, c.Choices[path], c.anyAnswer[path], c.forms[path])
}

// Denies reports whether the run left a question open about the node at a path, and the answer denies it.
func (c *Checkpoint) Denies(path, answer string) bool {
	return c.Open[path] && !c.anyAnswer[path] && c.forms[path] == nil && plan.Denies(answer)
}

// Form returns the fields of the answer to the open question about a node, or nil if the answer is a text.
func (c *Checkpoint) Form(path string) form.Form {
	if !c.Open[path] {
		return nil
	}
	return c.forms[path]
}

// markBegun notes that the nodes around one have begun.
func (c *Checkpoint) markBegun(path string) {
	for around := event.Enclosing(path); around != ""; around = event.Enclosing(around) {
		c.begun[around] = true
	}
}

func itemKey(path string, item int) string { return path + "[" + strconv.Itoa(item) + "]" }

func iterationKey(path string, iteration int) string { return path + "#" + strconv.Itoa(iteration) }
