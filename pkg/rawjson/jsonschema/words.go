package jsonschema

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	// maxEcho is the most bytes of a schema or a value that a message repeats.
	maxEcho = 200
	// maxListed is the most allowed values that a message lists.
	maxListed = 10
)

// describe returns the violation of a keyword of the schema at a path by the value at a place. It does not set Path and keyword.
func (e *explainer) describe(place, at, keyword string, value any) *Violation {
	part := e.parts[at]
	limit := part[keyword]
	object, _ := value.(map[string]any)
	if text := phrase(keyword); text != "" {
		if limit == json.Number("1") && strings.HasPrefix(keyword, "min") && keyword != "minimum" {
			text = "not be empty"
		}
		return &Violation{Must: strings.Replace(text, "…", echo(limit), 1)}
	}
	must := func(format string, args ...any) *Violation { return &Violation{Must: fmt.Sprintf(format, args...)} }
	switch keyword {
	case "type":
		var kinds []string
		for _, name := range typesOf(part) {
			kinds = append(kinds, article(name))
		}
		return &Violation{Must: "be " + strings.Join(kinds, " or ") + ", not " + article(typeOf(value)), Hint: unquote(value, limit)}
	case "enum":
		allowed, _ := limit.([]any)
		var names []string
		for _, a := range allowed {
			if name, ok := a.(string); ok {
				names = append(names, name)
			}
		}
		text, _ := value.(string)
		return &Violation{Must: "be one of " + listed(allowed), Hint: didYouMean(text, names)}
	case "required":
		return must("have %s", quoted(e.missing(at, object)))
	case "pattern":
		return must("match the regular expression %v", limit)
	case "additionalProperties":
		unknown := e.unknown(at, object)
		v := must("not have %s", quoted(unknown))
		for i := 0; i < len(unknown) && i < maxListed && v.Hint == ""; i++ {
			v.Hint = didYouMean(unknown[i], e.properties(at))
		}
		return v
	case "anyOf", "oneOf":
		return e.describeChoice(place, at+"/"+keyword, limit, value)
	case "not":
		if part == nil { // the schema false
			return must("be left out")
		}
	}
	return must("fit its schema, by the keyword %q", fault.Truncate(keyword, maxEcho))
}

// phrase returns what a keyword demands, with … for its value, or "" if that depends on more than its value.
func phrase(keyword string) string {
	return map[string]string{
		"const":            "be …",
		"minimum":          "be at least …",
		"maximum":          "be at most …",
		"exclusiveMinimum": "be more than …",
		"exclusiveMaximum": "be less than …",
		"multipleOf":       "be a multiple of …",
		"minLength":        "have at least … characters",
		"maxLength":        "have at most … characters",
		"minItems":         "have at least … items",
		"maxItems":         "have at most … items",
		"minProperties":    "have at least … members",
		"maxProperties":    "have at most … members",
		"uniqueItems":      "not have the same item twice",
	}[keyword]
}

// describeChoice returns the violation of anyOf or oneOf. If the value has the type and the constants of exactly one choice, it
// returns the violation of that choice.
func (e *explainer) describeChoice(place, at string, choices, value any) *Violation {
	list, _ := choices.([]any)
	var meant []*Violation
	fitting := 0
	for i := 0; i < len(list) && e.left > 0; i++ {
		choice := at + "/" + strconv.Itoa(i)
		if _, keyword := e.fails(choice, value); keyword == "" {
			fitting++
		} else if v := e.explain(place, choice, value); v.keyword != "const" && (v.keyword != "type" || v.Path != place) {
			meant = append(meant, v)
		}
	}
	switch {
	case fitting > 1:
		return &Violation{Must: "fit only one of the forms that its schema has, and fits several"}
	case len(meant) == 1 && e.left > 0:
		return meant[0]
	}
	return &Violation{Must: "fit one of the forms that its schema has"}
}

// unquote returns a hint for a string that holds a value of the type that the schema asks for.
func unquote(value, kind any) string {
	text, _ := value.(string)
	var number float64
	switch {
	case kind == "boolean" && (text == "true" || text == "false"):
		return "Write " + text + " without quotes"
	case text == "null" || json.Unmarshal([]byte(text), &number) != nil:
	case kind == "number", kind == "integer" && number == math.Trunc(number):
		return "Write it as a number, without quotes"
	}
	return ""
}

// didYouMean returns a hint if a name is nearly one that is known.
func didYouMean(name string, known []string) string {
	if near, ok := fault.Nearest(fault.Truncate(name, maxEcho), known); ok {
		return fmt.Sprintf("Did you mean %q?", near)
	}
	return ""
}

// typeOf returns the JSON Schema type of a value.
func typeOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if value == math.Trunc(value) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

func article(kind string) string {
	switch kind {
	case "null":
		return kind
	case "integer", "array", "object":
		return "an " + kind
	}
	return "a " + kind
}

// listed returns the first of some values.
func listed(values []any) string {
	var all []string
	for _, value := range values[:min(len(values), maxListed)] {
		all = append(all, echo(value))
	}
	if more := len(values) - maxListed; more > 0 {
		all = append(all, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(all, ", ")
}

// echo returns a value as JSON, shortened.
func echo(value any) string {
	raw, err := rawjson.Marshal(value)
	if err != nil {
		return "?"
	}
	return fault.Truncate(string(raw), maxEcho)
}

// quoted returns names in quotes, shortened.
func quoted(names []string) string {
	list := strings.Trim(fmt.Sprintf("%q", names), "[]")
	return fault.Truncate(strings.ReplaceAll(list, `" "`, `", "`), maxEcho)
}
