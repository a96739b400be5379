package jsonschema

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Violation is a part of a value that its schema does not allow.
type Violation struct {
	// Path is the place in the value, such as items[2].name; empty for the value itself.
	Path string
	// Must completes a sentence about that place, such as "be an integer, not a string".
	Must string
	// Hint is a sentence that says what to do, or empty.
	Hint string

	keyword string
	// part is the value at the place.
	part any
}

// Error returns a sentence such as: items[2].mode must be one of "on", "off" (did you mean "on"?).
func (v *Violation) Error() string {
	text := "it must " + v.Must
	if v.Path != "" {
		text = v.Path + " must " + v.Must
	}
	if v.Hint != "" {
		text += " (" + strings.ToLower(v.Hint[:1]) + v.Hint[1:] + ")"
	}
	return text
}

// Check returns the first part of a value that the schema does not allow, or nil if the value fits.
func (s *Schema) Check(value json.RawMessage) *Violation {
	v, err := Decode(value)
	if err != nil {
		return &Violation{Must: "be JSON (" + err.Error() + ")"}
	}
	return s.CheckValue(v)
}

// CheckValue is Check for a value from [Decode].
func (s *Schema) CheckValue(value any) *Violation {
	s, value = s.exact(value)
	if s.resolved.Validate(value) == nil {
		return nil
	}
	return newExplainer(s).explain("", "", value)
}

// Fits reports whether the schema allows a value.
func (s *Schema) Fits(value json.RawMessage) bool {
	v, err := Decode(value)
	if err != nil {
		return false
	}
	s, v = s.exact(v)
	return s.resolved.Validate(v) == nil
}

// AllowsNull reports whether the member of an object with the given name may be null by its own schema. It returns true for a
// name that is not in the schema's keyword properties.
func (s *Schema) AllowsNull(name string) bool {
	if known, _ := s.parts[""]["properties"].(map[string]any); known[name] == nil {
		return true
	}
	e := newExplainer(s)
	_, keyword := e.fails("/properties/"+escaped.Replace(name), nil)
	return keyword == ""
}

// Names compares the names of an object's members with the schema's: unknown are those that additionalProperties forbids,
// sorted, and missing those that are required, in the schema's order.
func (s *Schema) Names(object map[string]any) (unknown, missing []string) {
	if s.parts[""]["additionalProperties"] == false {
		unknown = s.unknown("", object)
	}
	return unknown, s.missing("", object)
}

// Properties returns the names in the schema's keyword properties, sorted.
func (s *Schema) Properties() []string { return s.properties("") }

func (s *Schema) properties(at string) []string {
	known, _ := s.parts[at]["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(known))
}

// unknown returns the names of an object's members that the schema at a path does not name, sorted.
func (s *Schema) unknown(at string, object map[string]any) []string {
	known, _ := s.parts[at]["properties"].(map[string]any)
	patterns, _ := s.parts[at]["patternProperties"].(map[string]any)
	named := map[string]bool{}
	for pattern := range patterns {
		re, err := regexp.Compile(pattern)
		for name := range object {
			named[name] = named[name] || err == nil && re.MatchString(name)
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(object)), func(name string) bool {
		_, ok := known[name]
		return ok || named[name]
	})
}

// missing returns the names that the schema at a path requires and that an object does not have.
func (s *Schema) missing(at string, object map[string]any) []string {
	var names []string
	required, _ := s.parts[at]["required"].([]any)
	for _, name := range required {
		name, _ := name.(string)
		if _, ok := object[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}
