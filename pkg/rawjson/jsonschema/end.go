package jsonschema

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxSteps is the most schemas that one part of a value may have to be checked by. What people write needs some dozens; a few
// references that each lead to two others need more than a computer has time for.
const maxSteps = 10_000

// checkEnd refuses a schema by which the check of a value would not come to an end: one that comes back to itself before it has
// gone into a part of the value, or that would take too long.
func checkEnd(canonical json.RawMessage) *fault.Fault {
	t := &trail{schemas: map[string]map[string]any{}, base: map[string]string{}, anchors: map[string][]string{}, steps: map[string]int{}}
	var paths []string
	Walk(decoded(canonical), func(path string, s map[string]any) {
		paths = append(paths, path)
		t.note(path, s)
	})
	for _, path := range paths {
		if f := t.follow(path); f != nil {
			return f
		}
	}
	return nil
}

// trail follows how the check of one part of a value goes from schema to schema.
type trail struct {
	schemas map[string]map[string]any // by their paths
	base    map[string]string         // the path of the schema that the references of another begin at: the next with an $id
	anchors map[string][]string       // the paths of the schemas that bear a name
	steps   map[string]int            // how many schemas a check by one takes; 0 while that is being found out
}

func (t *trail) note(path string, s map[string]any) {
	t.schemas[path] = s
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
	if id, ok := s["$id"].(string); ok && strings.HasPrefix(id, "#") { // the older form of an anchor
		t.anchors[id[1:]] = append(t.anchors[id[1:]], path)
	}
}

// step is a way from a schema to another that the same part of a value is checked by; at is where the way is written.
type step struct{ at, to string }

// follow counts the schemas that a check takes.
func (t *trail) follow(path string) *fault.Fault {
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
			return refused(fault.New(fault.Usage, "output_schema takes too long to check: at %s its references lead to more than %d schemas", s.at, maxSteps)).
				Suggest("Refer to each schema once, in place of in several choices that lead to the same")
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
	return refused(fault.New(fault.Usage, "output_schema has no end: %s leads back to %s, without going into a part of the value in between", s.at, to)).
		Suggest("Let a schema refer to itself only below properties or items, or leave the reference out")
}

// next are the schemas that the same part of a value is checked by.
func (t *trail) next(path string) ([]step, *fault.Fault) {
	var steps []step
	s := t.schemas[path]
	for _, keyword := range []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"} {
		if (keyword == "then" || keyword == "else") && s["if"] == nil { // without which they say nothing
			continue
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
			return nil, refused(fault.New(fault.Usage, "output_schema has a reference that is not followed here: %s at %s", fault.Truncate(ref, 100), path+"/"+keyword)).
				Suggest("Refer to a schema within output_schema, by its place, such as #/$defs/name")
		}
		for _, target := range to {
			steps = append(steps, step{at: path + "/" + keyword, to: target})
		}
	}
	return steps, nil
}

// targets are the paths of the schemas that a reference can lead to: by a name there may be several.
func (t *trail) targets(path, ref string) []string {
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
