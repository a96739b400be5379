// Package jsonschema checks JSON values against JSON Schemas. It reports the first part of a value that its schema does not
// allow as a [Violation]: where it is, what the schema asks for and what is there instead. The dialects are draft 2020-12 and
// draft-07, as github.com/google/jsonschema-go reads them; no other package of the suite imports that library. Numbers are compared as
// they are written, with all their digits.
package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	google "github.com/google/jsonschema-go/jsonschema"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Schema is a JSON Schema. It may be used by several goroutines at a time.
type Schema struct {
	source   json.RawMessage
	document *google.Schema
	resolved *google.Resolved
	// parts holds the schemas within this one that are objects, by their JSON Pointers, with each keyword in its standard
	// spelling. The library ignores the case of keywords.
	parts map[string]map[string]any

	compares bool // it compares numbers with others, as multipleOf and enum do
	divides  bool // it has a multipleOf
	ordinary bool // float64s do for the numbers that it names
}

// Compile reads a JSON Schema. The fault is a usage_error whose message begins with the place in the schema, a JSON Pointer,
// if it has one. A schema by which the check of a value would not end is refused.
func Compile(source json.RawMessage) (*Schema, *fault.Fault) {
	s := &Schema{source: rawjson.Compact(source), document: &google.Schema{}, parts: map[string]map[string]any{}}
	if err := json.Unmarshal(source, s.document); err != nil {
		return nil, invalid("%s", decodingError(err))
	}
	canonical, err := rawjson.Marshal(s.document)
	if err != nil {
		return nil, invalid("%s", libraryText(err))
	}
	s.readParts(canonical)
	for _, path := range s.paths() {
		if f := checkTypes(path, s.parts[path]); f != nil {
			return nil, f
		}
		if n, ok := s.parts[path]["multipleOf"].(json.Number); ok && rational(n).Sign() <= 0 {
			return nil, invalid("%s/multipleOf: it must be more than 0", path)
		}
	}
	s.noteNumbers()
	if f := checkRecursion(s); f != nil {
		return nil, f
	}
	if s.resolved, err = s.document.Resolve(nil); err != nil {
		return nil, invalid("%s", libraryText(err))
	}
	// An error about the value wraps another error. The error about the dialect does not.
	if err := s.resolved.Validate(nil); err != nil && errors.Unwrap(err) == nil {
		return nil, invalid("/$schema: the dialect %q is not supported", fault.Truncate(s.document.Schema, maxEcho)).
			Suggest("Leave $schema out, or write https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#")
	}
	return s, nil
}

// readParts sets the parts of a schema, from the library's writing of it. The library reads numbers as float64s, so those of the source
// are taken instead.
func (s *Schema) readParts(canonical json.RawMessage) {
	read := func(raw json.RawMessage, visit func(path string, part map[string]any)) {
		document, _ := decodeNumbers(raw)
		root, _ := document.(map[string]any)
		Walk(root, visit)
	}
	read(canonical, func(path string, part map[string]any) { s.parts[path] = part })
	read(s.source, func(path string, part map[string]any) {
		for _, keyword := range append([]string{"multipleOf"}, comparing...) {
			if written, ok := part[keyword]; ok && s.parts[path] != nil {
				s.parts[path][keyword] = written
			}
		}
	})
}

// Lazy returns a function that compiles the schema at its first call, and returns the same result at each call.
func Lazy(source json.RawMessage) func() (*Schema, *fault.Fault) {
	return sync.OnceValues(func() (*Schema, *fault.Fault) { return Compile(source) })
}

func invalid(format string, args ...any) *fault.Fault {
	return fault.New(fault.Usage, format, args...)
}

// paths returns the places of the schema's parts, outer parts first.
func (s *Schema) paths() []string { return slices.Sorted(maps.Keys(s.parts)) }

var typeNames = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// checkTypes refuses types that do not exist, which the library lets through.
func checkTypes(path string, part map[string]any) *fault.Fault {
	for _, name := range typesOf(part) {
		if !slices.Contains(typeNames, name) {
			return invalid("%s/type: there is no type %q", path, fault.Truncate(name, maxEcho)).Suggest("The types are %s", strings.Join(typeNames, ", "))
		}
	}
	return nil
}

// typesOf returns the names in the keyword type of a schema.
func typesOf(part map[string]any) []string {
	switch kinds := part["type"].(type) {
	case string:
		return []string{kinds}
	case []any:
		names := make([]string, len(kinds))
		for i, kind := range kinds {
			names[i], _ = kind.(string)
		}
		return names
	}
	return nil
}

// decodingError returns why a document is not a schema.
func decodingError(err error) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return libraryText(err)
	}
	if keyword := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]; keyword != "" {
		return fmt.Sprintf("%s cannot be of type %s", keyword, wrong.Value)
	}
	return "a schema cannot be of type " + wrong.Value
}

// libraryText returns the library's message about a schema, without the names of its Go package and types.
func libraryText(err error) string {
	for wrapped, ok := errors.AsType[*json.MarshalerError](err); ok; wrapped, ok = errors.AsType[*json.MarshalerError](err) {
		err = wrapped.Err
	}
	text := err.Error()
	for _, prefix := range []string{"jsonschema: ", "jsonschema.Schema: ", "<anonymous schema>: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return fault.Truncate(text, maxEcho)
}

// decoded returns a JSON object as a Go value, or nil if raw is not one.
func decoded(raw json.RawMessage) map[string]any {
	var m map[string]any
	_ = json.Unmarshal(raw, &m)
	return m
}

// Source returns the schema as JSON without white space.
func (s *Schema) Source() json.RawMessage { return s.source }

// Document returns the schema as a Go value that belongs to the caller.
func (s *Schema) Document() map[string]any { return decoded(s.source) }

// IsObject reports whether the schema's type is object and nothing else.
func (s *Schema) IsObject() bool { return s.parts[""]["type"] == "object" }
