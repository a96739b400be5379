package template

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Availability is the state of a root name in a run.
type Availability int

// A root is Absent if it names nothing or its node did not run, and Failed if its node failed and an error edge was taken.
const (
	Absent Availability = iota
	Present
	Failed
)

// Scope returns the value of a reference's root, as valid JSON. The value of a failed node is its partial outputs. Members
// of an object that the reference does not lead into may be null if fetching them would take long.
type Scope func(ref Ref) (json.RawMessage, Availability)

// Value returns the value of the first term that resolves to something other than null or a failed node's result. Functions are
// not applied to null, and one that cannot be applied leaves the whole expression without a value. If no
// term does, it returns null or the failed node's outputs, if a term resolves to one of them. Otherwise the reason is not
// empty and says why the last term does not resolve.
func (e Expr) Value(scope Scope) (value json.RawMessage, reason string) {
	value, _, reason = e.value(scope)
	return value, reason
}

// value is Value and returns also the term that the value is from.
func (e Expr) value(scope Scope) (value json.RawMessage, from Term, reason string) {
	for _, t := range e.Terms {
		got, availability, why := t.Literal, Present, ""
		if t.Ref != nil {
			got, availability, why = lookup(*t.Ref, scope)
		}
		if why == "" && string(got) != "null" {
			if got, why = t.apply(got); why != "" {
				return nil, t, why // an alternative is for a value that is missing, not for one that is wrong
			}
		}
		switch {
		case why != "":
			reason = why
		case (availability == Present || t.describesFailure()) && string(got) != "null":
			return got, t, ""
		case value == nil || string(value) == "null":
			value, from = got, t
		}
	}
	if value != nil {
		reason = ""
	}
	return value, from, reason
}

// describesFailure reports whether a term leads to an output that says how a node failed. The other outputs of a failed node are
// results, which may be incomplete.
func (t Term) describesFailure() bool {
	if t.Ref == nil || len(t.Ref.Path) == 0 {
		return false
	}
	switch t.Ref.Path[0].Key {
	case "error", "exit_code", "stderr", "status_code":
		return true
	}
	return false
}

// Lookup follows a reference. If it cannot be followed to its end, the reason says how far it leads; otherwise the reason
// is empty. Text that holds a JSON object or list is parsed if the reference leads into it. Of equal keys in an object the
// first counts. The value may share memory with what the scope returned and must not be modified.
func Lookup(ref Ref, scope Scope) (value json.RawMessage, reason string) {
	value, _, reason = lookup(ref, scope)
	return value, reason
}

func lookup(ref Ref, scope Scope) (value json.RawMessage, availability Availability, reason string) {
	value, availability = scope(ref)
	if availability == Absent {
		return nil, Absent, ref.Root + " has no value: it did not run"
	}
	path, least, reason := resolveIndexes(ref.Path, scope)
	if reason != "" {
		return nil, availability, reason
	}
	if least == Failed {
		availability = Failed
	}
	value = bytes.TrimSpace(value)
	for i := 0; i < len(path); {
		if parsed, ok := Embedded(value); ok {
			value = parsed
		}
		next, n := along(value, path[i:])
		if n == 0 {
			return nil, availability, missed(Ref{Root: ref.Root, Path: ref.Path[:i]}, value, path[i])
		}
		value, i = next, i+n
	}
	return slices.Clip(value), availability, "" // an append must not overwrite what follows it
}

// resolveIndexes returns a path with the references in its indexes replaced by their values. Its availability is Failed if
// one of theirs is.
func resolveIndexes(path []Step, scope Scope) (steps []Step, availability Availability, reason string) {
	refers := func(s Step) bool { return s.At != nil }
	if !slices.ContainsFunc(path, refers) {
		return path, Present, ""
	}
	steps, availability = slices.Clone(path), Present
	for i, s := range steps {
		if !refers(s) {
			continue
		}
		step, of, why := s.at(scope)
		if why != "" {
			return nil, of, why
		}
		if steps[i] = step; of == Failed {
			availability = Failed
		}
	}
	return steps, availability, ""
}

// at resolves a reference in an index to a step. Text is a key. A number, also one in a text, is an index in a list and a
// key in an object: the step has both.
func (s Step) at(scope Scope) (Step, Availability, string) {
	got, availability, reason := lookup(*s.At, scope)
	if reason != "" {
		return Step{}, availability, reason
	}
	key := AsText(got)
	index, ok := parseIndex(key)
	if !ok && !bytes.HasPrefix(got, []byte(`"`)) {
		return Step{}, availability, s.At.String() + " is " + rawjson.Kind(got) + "; an index must be a whole number from 0 up, or a key"
	}
	return Step{Key: key, Index: index, IsIndex: ok}, availability, ""
}
