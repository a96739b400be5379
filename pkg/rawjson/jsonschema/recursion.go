package jsonschema

import (
	"net/url"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxSteps is the most schemas that one part of a value may be checked by. Schemas that people write need some dozens. A chain
// of references that each lead to two others needs more than a computer has time for.
const maxSteps = 10_000

// checkRecursion refuses a schema by which the check of a value would not end or would take too long: one that leads back to itself
// without going into a part of the value. The library follows such references until the stack overflows.
func checkRecursion(s *Schema) *fault.Fault {
	t := &tracer{schemas: s.parts, base: map[string]string{}, anchors: map[string][]string{}, steps: map[string]int{}}
	paths := s.paths()
	for _, path := range paths {
		t.note(path)
	}
	for _, path := range paths {
		if f := t.follow(path); f != nil {
			return f
		}
	}
	return nil
}

// tracer follows how the check of one part of a value goes from schema to schema.
type tracer struct {
	schemas map[string]map[string]any // by path
	base    map[string]string         // by path: the innermost enclosing schema with an $id, to which references are relative
	anchors map[string][]string       // the paths of the schemas with an anchor, by its name
	steps   map[string]int            // by path: the number of schemas that a check takes; 0 while it is being counted
}

// note records the base of a schema and its anchors.
func (t *tracer) note(path string) {
	s := t.schemas[path]
	t.base[path] = ""
	for above := path; above != ""; above = above[:strings.LastIndexByte(above, '/')] {
		if id, ok := t.schemas[above]["$id"].(string); ok && !strings.HasPrefix(id, "#") {
			t.base[path] = above
			break
		}
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if name, ok := s[keyword].(string); ok {
			t.anchors[name] = append(t.anchors[name], path)
		}
	}
	if id, ok := s["$id"].(string); ok && strings.HasPrefix(id, "#") { // an anchor in draft-07
		t.anchors[id[1:]] = append(t.anchors[id[1:]], path)
	}
}

// step leads from a schema to another by which the same part of a value is checked. The path at is where the step is written.
type step struct{ at, to string }

// follow counts the schemas that a check takes.
func (t *tracer) follow(path string) *fault.Fault {
	if t.steps[path] > 0 {
		return nil
	}
	t.steps[path] = 0
	next, f := t.next(path)
	if f != nil {
		return f
	}
	count := 1
	for _, s := range next {
		if n, begun := t.steps[s.to]; begun && n == 0 {
			return endless(s)
		}
		if f := t.follow(s.to); f != nil {
			return f
		}
		if count += t.steps[s.to]; count > maxSteps {
			return invalid("%s takes too long to check: its references lead to more than %d schemas", s.at, maxSteps).
				Suggest("Refer to a schema once, instead of from several choices")
		}
	}
	t.steps[path] = count
	return nil
}

func endless(s step) *fault.Fault {
	to := s.to
	if to == "" {
		to = "the root"
	}
	return invalid("%s leads back to %s without going into a part of the value, so a check would not end", s.at, to).
		Suggest("Let a schema refer to itself only below properties or items")
}

// next returns the schemas by which the same part of a value is checked.
func (t *tracer) next(path string) ([]step, *fault.Fault) {
	var steps []step
	s := t.schemas[path]
	for _, keyword := range []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"} {
		if (keyword == "then" || keyword == "else") && s["if"] == nil {
			continue // they have no effect
		}
		for _, in := range within(path, keyword, s[keyword]) {
			steps = append(steps, step{at: in.path, to: in.path})
		}
	}
	for _, keyword := range []string{"$ref", "$dynamicRef"} {
		ref, _ := s[keyword].(string)
		if ref == "" {
			continue
		}
		to := t.targets(path, ref)
		if len(to) == 0 {
			return nil, invalid("%s/%s: there is no schema %s here, and remote schemas are not loaded", path, keyword, fault.Truncate(ref, maxEcho)).
				Suggest("Refer to a schema in the same document by its place, such as #/$defs/name")
		}
		for _, target := range to {
			steps = append(steps, step{at: path + "/" + keyword, to: target})
		}
	}
	return steps, nil
}

// targets returns the paths of the schemas that a reference can lead to. Several can have the same anchor.
func (t *tracer) targets(path, ref string) []string {
	if id, ok := t.schemas[""]["$id"].(string); ok && t.base[path] == "" && !strings.HasPrefix(id, "#") {
		ref = strings.TrimPrefix(ref, strings.TrimSuffix(id, "#"))
	}
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok && ref != "" {
		return nil
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil
	}
	if fragment != "" && fragment[0] != '/' {
		return slices.Clone(t.anchors[fragment])
	}
	if target := t.base[path] + fragment; t.schemas[target] != nil {
		return []string{target}
	}
	return nil
}
