// Package resume knows what earlier runs did, and decides what a run does again.
//
// Read makes a table from the events of a run: a Memory has the finished steps by their places, and the questions with their answers.
// Forget strikes out of it what somebody wishes to run again. Then Decide is asked about each step that is ready: keep what is in the
// table, or run the step, and why. The engine runs a kept step nevertheless if its action leads nowhere now, if its loop would end
// elsewhere (endsAlike), or if a secret in its outputs is needed (refresh.go). About the answers to questions it asks Matches. The package
// has no clock, starts no goroutine and opens no file; long values stay references.
package resume

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Memory is what a run and those before it did, read from its events. Its methods may be called on nil, the memory of a run that
// goes on from none. They are not safe for use by several goroutines.
type Memory struct {
	Run string
	// Started is the run_started event.
	Started *event.Event
	// Blob fetches the run's long values.
	Blob event.Load
	// Earlier returns the memory of a run before this one, or nil if that is gone. It may be nil.
	Earlier func(run string) *Memory

	// rows has the finished steps by their places. A place is a node's path, or such as a[0] for an item and a#1 for an iteration.
	rows map[string]Row
	// begun has the nodes with something finished inside: an item, an iteration, or an inner node. failed has those with an item that
	// failed for good.
	begun, failed map[string]bool
	// questions are by the paths of the nodes that asked. denied has the nodes that a person denied, in this run or in one before, and that
	// no person has allowed since.
	questions map[string]*question
	denied    map[string]event.Refusal
	// forgotten has the places that Forget struck out; the value reports whether all that is inside was, too. lost has the places that Lose
	// struck out, and outdated what made a node that only Config.Only may use be so.
	forgotten map[string]bool
	lost      map[string]bool
	outdated  map[string]string
	// reruns counts how often somebody asked to run a node again that had ended.
	reruns map[string]int
	// expanded has the places whose inside was looked for in earlier runs. inside has the places inside of others, once a later memory
	// has asked for them.
	expanded map[string]bool
	inside   map[string][]string

	// spent is what the run and those before it have spent.
	spent  event.Spending
	source Source
	// held has events that were read beforehand, by their offset in the source: a memory is read while the workflow is checked. size is
	// the total size of their lines, at most maxHeld.
	held map[int64]*event.Event
	size int
}

// Row is a finished step: the header of its last event.
type Row struct {
	event.Header
	// of is the memory that has the event.
	of *Memory
}

// Read reads the whole event.
func (r Row) Read() (*event.Event, error) {
	if e := r.of.held[r.At]; e != nil {
		return e, nil
	}
	return r.Header.Read(r.of.source)
}

// Blob fetches a long value of the row's event.
func (r Row) Blob(ref string) ([]byte, error) { return r.of.Blob(ref) }

// IsOf reports whether the row's event is in the events of a memory, and not in those of an earlier run.
func (r Row) IsOf(m *Memory) bool { return r.of == m }

// Item and Iteration return the places of the parts of the node at a path.
func Item(path string, item int) string { return path + "[" + strconv.Itoa(item) + "]" }

// Iteration returns the place of an iteration, counted from 1.
func Iteration(path string, iteration int) string { return path + "#" + strconv.Itoa(iteration) }

// Place returns the place of the step that an event about the node of a path finishes.
func Place(path string, e *event.Event) string {
	switch {
	case e.Item != nil:
		return Item(path, *e.Item)
	case e.Event == event.IterationCompleted:
		return Iteration(path, e.Iteration)
	}
	return path
}

// maxHeld is the most bytes of events that are held in memory.
const maxHeld = 16 << 20

// Source is a stream of events that can be read repeatedly.
type Source interface {
	io.Reader
	io.ReaderAt
}

// Read reads the events of one run, or any prefix of them. The source must not change while the memory is in use.
func Read(source Source, blob event.Load) (*Memory, error) {
	m := &Memory{
		Blob: blob, source: source, held: map[int64]*event.Event{},
		rows: map[string]Row{}, begun: map[string]bool{}, failed: map[string]bool{}, questions: map[string]*question{}, denied: map[string]event.Refusal{},
		forgotten: map[string]bool{}, lost: map[string]bool{}, outdated: map[string]string{}, reruns: map[string]int{}, expanded: map[string]bool{},
	}
	var admitted, last event.Header
	var usage *event.Usage
	for events := event.NewReader(source); ; {
		h, err := events.Skim()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = m.add(h)
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
	if m.Started == nil {
		return nil, fault.New(fault.Usage, "The event stream does not begin with run_started: there is nothing to resume").
			Suggest("Start a new run")
	}
	if err := m.spend(usage, admitted, last); err != nil {
		return nil, err
	}
	return m, nil
}

// spend sets what is spent, from the run's use of language models, from the event with which it was admitted, if it had to wait for
// that, and from its last event.
func (m *Memory) spend(usage *event.Usage, admitted, last event.Header) error {
	began := m.Started.Time
	if admitted.Event != "" {
		e, err := admitted.Read(m.source)
		if err != nil {
			return err
		}
		began = e.Time
	}
	e, err := last.Read(m.source)
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
	if m.spent = event.SpendingOf(usage, took); m.Started.Spent != nil {
		m.spent = m.spent.Plus(*m.Started.Spent)
	}
	return nil
}

// add adds the event of a header.
func (m *Memory) add(h event.Header) error {
	switch {
	case h.Event == event.RunStarted, h.Event == event.ApprovalRequested, h.Event == event.ApprovalResolved:
		e, err := h.Read(m.source)
		if err != nil {
			return err
		}
		return m.addEvent(e)
	case h.Outdated && h.Event == event.ItemCompleted:
		delete(m.rows, Item(h.Node, h.Item))
		return nil
	case h.Outdated && h.Event == event.IterationCompleted:
		delete(m.rows, Iteration(h.Node, h.Iteration))
		return nil
	case h.Event == event.ItemCompleted && h.Item >= 0:
		m.rows[Item(h.Node, h.Item)] = Row{h, m}
		m.begun[h.Node] = true
	case h.Event == event.IterationCompleted:
		m.rows[Iteration(h.Node, h.Iteration)] = Row{h, m}
		m.begun[h.Node] = true
	case h.Event == event.NodeFailed && h.Item >= 0 && !h.WillRetry:
		m.failed[h.Node] = true
		return nil
	case h.Settles():
		if old := m.rows[h.Node]; old.IterationDigest != "" {
			delete(m.rows, Iteration(h.Node, old.Iteration))
		}
		m.rows[h.Node] = Row{h, m}
		if h.IterationDigest != "" {
			last := h
			last.InputDigest = h.IterationDigest
			m.rows[Iteration(h.Node, h.Iteration)] = Row{last, m}
		}
		if h.Outdated {
			if e, err := h.Read(m.source); err == nil && e.Cause != "" {
				m.outdated[h.Node] = e.Cause
			}
		} else {
			delete(m.outdated, h.Node)
		}
		if q := m.questions[h.Node]; q != nil {
			q.own = nil // if the node runs again, it begins anew
		}
		if m.size += h.Size; m.size <= maxHeld {
			if e, err := h.Read(m.source); err == nil { // else the error is reported when the event is used
				m.held[h.At] = e
			}
		}
	default:
		return nil
	}
	m.markBegun(h.Node)
	return nil
}

// addEvent adds an event that was read as a whole.
func (m *Memory) addEvent(e *event.Event) error {
	if e.Event != event.RunStarted {
		m.addQuestion(e)
		return nil
	}
	if m.Started != nil {
		return fault.New(fault.Usage, "The event stream holds more than one run").Suggest("Give the events of one run")
	}
	if e.Workflow == nil {
		return fault.New(fault.Usage, "The first event of the stream names no workflow: it is not what a run has written").
			Suggest("Give the events as the run has printed them").Then(fault.Step{Do: fault.DoEvents, Run: "RUN"})
	}
	m.Run, m.Started = e.Run, e
	maps.Copy(m.denied, e.Denied)
	if e.Reruns == nil {
		return nil
	}
	plain, err := event.Plain(e.Reruns, m.Blob)
	if err == nil {
		err = json.Unmarshal(plain, &m.reruns)
	}
	if err != nil || m.reruns == nil {
		return fault.New(fault.Protocol, "What was asked to run again before run %s cannot be read", m.Run).Suggest("Start a new run")
	}
	return nil
}

// markBegun notes that the nodes around one have begun.
func (m *Memory) markBegun(path string) {
	for around := event.Enclosing(path); around != ""; around = event.Enclosing(around) {
		m.begun[around] = true
	}
}

// Row returns the finished step at a place.
func (m *Memory) Row(place string) (Row, bool) {
	if m == nil {
		return Row{}, false
	}
	r, ok := m.rows[place]
	return r, ok
}

// Rows returns the finished steps that are wanted, or all if wanted is nil, in the order of their streams. The last iteration of a loop, whose
// event is that of its node, is not among them.
func (m *Memory) Rows(wanted func(place string) bool) []Row {
	if m == nil {
		return nil
	}
	var rows []Row
	for place, r := range m.rows {
		if last := r.Settles() && place != r.Node; !last && (wanted == nil || wanted(place)) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(strings.Compare(a.of.Run, b.of.Run), cmp.Compare(a.At, b.At))
	})
	return rows
}

// Begun reports whether something inside a node had finished.
func (m *Memory) Begun(path string) bool { return m != nil && m.begun[path] }

// FirstRun returns the id of the run that the chain of resumes began with. Older streams do not name it; then the run that this one
// resumed stands for it.
func (m *Memory) FirstRun() string {
	return cmp.Or(m.Started.FirstRun, m.Started.ResumedFrom, m.Run)
}

// Spent returns what the run and those before it have spent.
func (m *Memory) Spent() (none event.Spending) {
	if m == nil {
		return none
	}
	return m.spent
}

// Reruns returns how often somebody asked to run a node again that had ended: the node itself, or one around it.
func (m *Memory) Reruns(path string) (count int) {
	if m == nil || len(m.reruns) == 0 {
		return 0
	}
	for ; path != ""; path = event.Enclosing(path) {
		count += m.reruns[path]
	}
	return count
}

// AllReruns returns the counts of Reruns as a JSON object, or nil if nobody asked.
func (m *Memory) AllReruns() (json.RawMessage, error) {
	if m == nil || len(m.reruns) == 0 {
		return nil, nil
	}
	return rawjson.Marshal(m.reruns)
}

// FailedAndHandled reports whether an event is the failure of a node that an edge took.
func FailedAndHandled(e *event.Event) bool {
	return e.Event == event.NodeFailed || e.Action == workflow.ActionError && e.Error != nil
}
