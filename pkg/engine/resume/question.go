package resume

import (
	"bytes"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/mcp/form"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// question is what was asked about a node, and what was answered.
type question struct {
	// asked is the newest question. open reports whether it is unanswered or was answered no.
	asked *event.Event
	open  bool
	// answer is the answer to the question before the node runs.
	answer *event.Event
	// own is the question that the node itself asked, if it has not ended since, and ownAnswer the answer to it.
	own, ownAnswer *event.Event
}

func (m *Memory) addQuestion(e *event.Event) {
	q := m.questions[e.Node]
	if q == nil {
		q = &question{asked: &event.Event{}}
		m.questions[e.Node] = q
	}
	switch {
	case e.Event == event.ApprovalRequested:
		if q.asked, q.open = e, true; e.State != nil {
			q.own, q.ownAnswer = e, nil
			m.markBegun(e.Node)
		}
		return
	case q.own != nil:
		q.ownAnswer = e
	default:
		q.answer = e
	}
	q.open = e.Denies() // a denied node may still be allowed
	m.noteDenial(e)
	m.markBegun(e.Node)
}

// noteDenial notes a person's answer if it denies, or allows what one has denied. The numbers of items and iterations may stand for others
// later, so there only an answer to the same question counts.
func (m *Memory) noteDenial(e *event.Event) {
	old, denied := m.denied[e.Node]
	switch {
	case !e.Person:
	case e.Answer == event.Denial:
		m.denied[e.Node] = event.Refusal{By: e.By, InputDigest: e.InputDigest}
	case denied && (event.GenericPath(e.Node) == e.Node || old.InputDigest == e.InputDigest):
		delete(m.denied, e.Node)
	}
}

// Denials returns the nodes that a person denied, by their paths.
func (m *Memory) Denials() map[string]event.Refusal {
	if m == nil {
		return nil
	}
	return m.denied
}

// DeniedBy returns who denied a node, or it in another item or iteration, if that was a person and no person has allowed it since.
// Else it returns "".
func (m *Memory) DeniedBy(path string) string {
	denied, general := m.Denials(), event.GenericPath(path)
	for _, other := range slices.Sorted(maps.Keys(denied)) {
		if event.GenericPath(other) == general {
			return denied[other].By
		}
	}
	return ""
}

// of returns the question about a node; without one, an empty question.
func (m *Memory) of(path string) *question {
	if m != nil && m.questions[path] != nil {
		return m.questions[path]
	}
	return &question{asked: &event.Event{}}
}

// IsOpen reports whether a question about a node is unanswered or was answered no.
func (m *Memory) IsOpen(path string) bool { return m.of(path).open }

// Open returns the paths of the nodes with an open question, sorted.
func (m *Memory) Open() (paths []string) {
	if m == nil {
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(m.questions)) {
		if m.questions[path].open {
			paths = append(paths, path)
		}
	}
	return paths
}

// Asked returns the newest question about a node; without one, an event without fields.
func (m *Memory) Asked(path string) *event.Event { return m.of(path).asked }

// Answer returns the answer to the question before a node runs, or nil.
func (m *Memory) Answer(path string) *event.Event { return m.of(path).answer }

// Own returns the question that a node asked itself before it ended, and the answer to that. Either may be nil.
func (m *Memory) Own(path string) (asked, answer *event.Event) {
	q := m.of(path)
	return q.own, q.ownAnswer
}

// Questions returns the paths of the nodes about which something was asked or answered, sorted.
func (m *Memory) Questions() []string { return slices.Sorted(maps.Keys(m.questions)) }

// SameQuestion reports whether the open question about a node was also open in another memory: with the same text, and about the same
// parameters.
func (m *Memory) SameQuestion(other *Memory, path string) bool {
	q, o := m.of(path), other.of(path)
	return q.open && o.open && q.asked.Question == o.asked.Question && bytes.Equal(q.asked.Params, o.asked.Params)
}

// Accepts reports whether a text is an answer to the open question about a node.
func (m *Memory) Accepts(path, answer string) bool {
	e := m.Asked(path)
	return m.IsOpen(path) && Accepts(answer, e.Choices, e.AnyAnswer, form.Form(e.Fields))
}

// Accepts reports whether a text is an answer to a question with these choices. With fields it must be an object that fits them.
func Accepts(answer string, choices []string, anyAnswer bool, fields form.Form) bool {
	if fields != nil {
		return fields.Check(answer) == nil
	}
	return slices.Contains(choices, answer) || anyAnswer && answer != ""
}

// Denies reports whether the answer denies the open question about a node.
func (m *Memory) Denies(path, answer string) bool {
	e := m.Asked(path)
	return m.IsOpen(path) && !e.AnyAnswer && e.Fields == nil && plan.Denies(answer)
}

// Form returns the fields of the answer to the open question about a node, or nil if the answer is a text.
func (m *Memory) Form(path string) form.Form {
	if !m.IsOpen(path) {
		return nil
	}
	return form.Form(m.Asked(path).Fields)
}

// Answers returns the answers that were given to the questions about nodes, by the paths of the nodes. Those that were given beforehand
// count too, unless their question is open.
func (m *Memory) Answers() map[string]string {
	given := map[string]string{}
	maps.Copy(given, m.Started.Answers)
	answered := map[string]bool{}
	for _, own := range []bool{false, true} {
		for path, q := range m.questions {
			e := q.answer
			if own {
				e = q.ownAnswer
			}
			if e != nil {
				given[path], answered[path] = e.Answer, !q.open || e.Denies()
			}
		}
	}
	for _, path := range m.Open() {
		if !answered[path] {
			delete(given, path)
			delete(given, event.GenericPath(path))
		}
	}
	return given
}

// Answered reports whether a node that asks itself was given an answer.
func (m *Memory) Answered(path, answer string) bool {
	_, e := m.Own(path)
	return e != nil && (e.Answer == answer || rawjson.Equal(e.Answer, answer))
}
