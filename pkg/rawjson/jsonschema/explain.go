package jsonschema

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sort"
	"strings"

	google "github.com/google/jsonschema-go/jsonschema"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// maxExplained is how many parts of a value, and choices for one, an explanation looks into.
const maxExplained = 50

// explainer finds out why a value does not fit. The library names schemas, but not places in the value. The explainer finds the
// places by checking parts of the value.
type explainer struct {
	*Schema
	resolved map[string]*google.Resolved // by path
	left     int
}

func newExplainer(s *Schema) *explainer {
	return &explainer{Schema: s, resolved: map[string]*google.Resolved{}, left: maxExplained}
}

// explain returns the violation in the value at a place, which the schema at a path does not allow.
func (e *explainer) explain(place, at string, value any) *Violation {
	through, keyword := e.fails(at, value)
	e.left--
	for _, next := range through {
		step, _, _ := strings.Cut(strings.TrimPrefix(next, at+"/"), "/")
		if !strings.HasPrefix(next, at+"/") || e.parts[at]["$ref"] == "#"+next || !slices.Contains(inward, step) {
			at = next // it applies to the same value
			continue
		}
		keyword = step
		if c := e.child(place, at, step, value); c != nil && e.left > 0 {
			v := e.explain(c.place, c.schema, c.value)
			if step == "propertyNames" {
				v.Must = "not have " + echo(c.value) + ": each name must " + v.Must
			}
			return v
		}
		break
	}
	v := e.describe(place, at, keyword, value)
	if v.keyword == "" {
		v.Path, v.keyword = place, keyword
	}
	v.part = value
	return v
}

// fails checks a value by the schema at a path. If the value does not fit, it returns the paths of the schemas below that the check
// went through, and the keyword that failed. Otherwise the keyword is empty. For the check it compiles a schema that only refers to
// the path.
func (e *explainer) fails(at string, value any) (through []string, keyword string) {
	if e.resolved[at] == nil {
		ref := url.URL{Scheme: "schema", Path: "/", Fragment: at}
		resolved, err := (&google.Schema{Schema: e.document.Schema, Ref: ref.String()}).Resolve(&google.ResolveOptions{
			Loader: func(*url.URL) (*google.Schema, error) {
				root := *e.document // the library writes to it
				return &root, nil
			},
		})
		if err != nil {
			return nil, "$ref"
		}
		e.resolved[at] = resolved
	}
	names, keyword := trail(e.resolved[at].Validate(value))
	for _, name := range names[min(2, len(names)):] { // after the one that refers, and the one at the path
		through = append(through, e.pathOf(name))
	}
	return through, keyword
}

// trail parses an error of the library. It returns the names of the schemas that the check went through, outermost first, and the
// keyword that failed. The library has no structured errors: it wraps the error of each schema in another, as "validating NAME: "
// followed by the error, and the innermost begins with the keyword. TestTheLibrarysErrors pins these texts.
func trail(err error) (names []string, keyword string) {
	if err == nil {
		return nil, ""
	}
	for inner := errors.Unwrap(err); inner != nil; err, inner = inner, errors.Unwrap(inner) {
		name := strings.TrimSuffix(err.Error(), ": "+inner.Error())
		names = append(names, strings.TrimPrefix(name, "validating "))
	}
	if strings.HasPrefix(err.Error(), "unexpected additional properties ") {
		return names, "additionalProperties"
	}
	keyword, _, _ = strings.Cut(err.Error(), ":")
	keyword, _, _ = strings.Cut(keyword, "[") // dependentRequired["name"]
	return names, keyword
}

// pathOf returns the path of a schema from its name in the library's errors: its $id, "root" or its path.
func (s *Schema) pathOf(name string) string {
	if name == "root" || strings.HasPrefix(name, "/") {
		return strings.TrimPrefix(name, "root")
	}
	for _, path := range s.paths() {
		if s.parts[path]["$id"] == name {
			return path
		}
	}
	return ""
}

// inward are the keywords whose schemas apply to the members, names or items of a value.
var inward = []string{
	"properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames",
	"items", "prefixItems", "additionalItems", "unevaluatedItems",
}

// child is a part of a value, with its place and the path of its schema.
type child struct {
	place, schema string
	value         any
}

// child returns the first part of a value that a keyword of the schema at a path does not allow, or nil if it cannot be found. Most
// keywords apply only to parts that other keywords leave over. So it checks objects with only one member, and lists with only the
// items up to the part.
func (e *explainer) child(place, at, keyword string, value any) *child {
	refusing := func(part any) string {
		if through, _ := e.fails(at, part); len(through) > 0 && strings.HasPrefix(through[0]+"/", at+"/"+keyword+"/") {
			return through[0]
		}
		return ""
	}
	switch value := value.(type) {
	case map[string]any:
		properties, _ := e.parts[at]["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			c := &child{rawjson.JoinPath(place, name), at + "/properties/" + escaped.Replace(name), value[name]}
			if _, known := properties[name]; known && keyword == "properties" {
				if _, wrong := e.fails(c.schema, c.value); wrong != "" {
					return c
				}
			} else if c.schema = refusing(map[string]any{name: c.value}); c.schema != "" {
				if keyword == "propertyNames" {
					c.place, c.value = place, name
				}
				return c
			}
		}
	case []any:
		i := sort.Search(len(value), func(i int) bool { return refusing(value[:i+1]) != "" })
		if i == len(value) {
			return nil
		}
		c := &child{fmt.Sprintf("%s[%d]", place, i), refusing(value[:i+1]), value[i]}
		if _, wrong := e.fails(c.schema, c.value); wrong != "" {
			return c
		}
	}
	return nil
}
