package template

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Availability says what a root name stands for in a run.
type Availability int

// A root is absent when it is no name or its node did not run, failed when its node failed and an error edge took that.
const (
	Absent Availability = iota
	Present
	Failed
)

// Scope gives the value of a reference's root, as valid JSON. The value of a failed node is what it left behind. Of an
// object, members that the reference does not lead into may be null, where fetching them would take long.
type Scope func(ref Ref) (json.RawMessage, Availability)

// Value gives the first of the terms that has a value: one that leads somewhere, to something else than null, and not to
// what a failed node left behind. Where there is none, null and what a failed node left behind are values too. When the
// reason is not empty there is none at all, and it says why.
func (e Expr) Value(scope Scope) (value json.RawMessage, reason string) {
	value, _, reason = e.value(scope)
	return value, reason
}

// value says also which term the value is from.
func (e Expr) value(scope Scope) (value json.RawMessage, from Term, reason string) {
	for _, t := range e.Terms {
		got, standing, why := t.Literal, Present, ""
		if t.Ref != nil {
			got, standing, why = lookup(*t.Ref, scope)
		}
		switch {
		case why != "":
			reason = why
		case standing == Present && string(got) != "null":
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

// Lookup follows a reference. When it leads nowhere the reason says how far it went; an empty reason is success.
// Text that holds a JSON object or list is looked into where the reference goes on. Of equal keys in an object the first
// counts. The value is a part of what the scope gave, and like that not to be changed.
func Lookup(ref Ref, scope Scope) (value json.RawMessage, reason string) {
	value, _, reason = lookup(ref, scope)
	return value, reason
}

func lookup(ref Ref, scope Scope) (value json.RawMessage, standing Availability, reason string) {
	value, standing = scope(ref)
	if standing == Absent {
		return nil, Absent, "there is no value of " + ref.Root + ", which did not run"
	}
	path, stands, reason := plain(ref.Path, scope)
	if reason != "" {
		return nil, standing, reason
	}
	if stands == Failed {
		standing = Failed
	}
	value = bytes.TrimSpace(value)
	for i := 0; i < len(path); {
		if parsed, ok := Embedded(value); ok {
			value = parsed
		}
		next, n := along(value, path[i:])
		if n == 0 {
			return nil, standing, missed(Ref{Root: ref.Root, Path: ref.Path[:i]}, value, path[i])
		}
		value, i = next, i+n
	}
	return slices.Clip(value), standing, "" // what is appended to it must not run into what stands behind it
}

// plain is a path with what its indexes refer to in their place. It stands as the least of them does.
func plain(path []Step, scope Scope) (steps []Step, standing Availability, reason string) {
	refers := func(s Step) bool { return s.At != nil }
	if !slices.ContainsFunc(path, refers) {
		return path, Present, ""
	}
	steps, standing = slices.Clone(path), Present
	for i, s := range steps {
		if !refers(s) {
			continue
		}
		step, stands, why := s.at(scope)
		if why != "" {
			return nil, stands, why
		}
		if steps[i] = step; stands == Failed {
			standing = Failed
		}
	}
	return steps, standing, ""
}

// at gives the step that a reference in an index stands for: text is a key, and a number, also one in a text, an index
// in a list and a key in an object. Such a step has both.
func (s Step) at(scope Scope) (Step, Availability, string) {
	got, standing, reason := lookup(*s.At, scope)
	if reason != "" {
		return Step{}, standing, reason
	}
	key := AsText(got)
	index, ok := parseIndex(key)
	if !ok && !bytes.HasPrefix(got, []byte(`"`)) {
		return Step{}, standing, s.At.String() + " is " + rawjson.Kind(got) + "; an index is a whole number from 0 up, or a key"
	}
	return Step{Key: key, Index: index, IsIndex: ok}, standing, ""
}
