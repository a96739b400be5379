package toolargs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// violation puts what the schema's checker found into words. The checker says "validating PLACE: " once for every
// level, then "keyword: …", with values as Go prints them and as long as they came.
func (c *Checker) violation(err error) *fault.Fault {
	text, place := err.Error(), ""
	for strings.HasPrefix(text, "validating ") {
		at, rest, ok := strings.Cut(strings.TrimPrefix(text, "validating "), ": ")
		if !ok {
			break
		}
		place, text = at, rest
	}
	v := violated{schema: within(gjson.ParseBytes(c.schema.document), place)}
	if list, ok := strings.CutPrefix(text, "unexpected additional properties "); ok {
		v.keyword, v.found = "additionalProperties", list
	} else {
		v.keyword, v.found, _ = strings.Cut(text, ": ")
	}
	path := argumentPath(place)
	if path == "" {
		return v.hint(c.wrong("The arguments of %s must %s", c.tool, v.demand()))
	}
	f := c.wrong("The argument %s of %s must %s", path, c.tool, v.demand())
	f.Path = path
	return v.hint(f)
}

// violated is the keyword of a schema that a value does not fit, with what the checker has to say on the value.
type violated struct {
	schema         gjson.Result
	keyword, found string
}

// demand is what the schema asks for, behind "must".
func (v violated) demand() string {
	limit := v.schema.Get(v.keyword)
	switch v.keyword {
	case "type":
		return "be " + typesOf(limit) + v.given()
	case "enum":
		return "be one of " + listed(limit.Array())
	case "const":
		return "be " + fault.Truncate(limit.Raw, maxEcho)
	case "pattern":
		return "match the regular expression " + limit.Str
	case "minLength", "minItems", "minProperties":
		if limit.Int() == 1 {
			return "not be empty"
		}
		return fmt.Sprintf("have at least %d %s", limit.Int(), unitOf(v.keyword))
	case "maxLength", "maxItems", "maxProperties":
		return fmt.Sprintf("have at most %d %s", limit.Int(), unitOf(v.keyword))
	case "uniqueItems":
		return "not have the same item twice"
	case "minimum":
		return "be at least " + limit.Raw
	case "maximum":
		return "be at most " + limit.Raw
	case "exclusiveMinimum":
		return "be more than " + limit.Raw
	case "exclusiveMaximum":
		return "be less than " + limit.Raw
	case "multipleOf":
		return "be a multiple of " + limit.Raw
	case "required":
		return "have " + names(strings.TrimPrefix(v.found, "missing properties: "))
	case "additionalProperties":
		return "not have " + names(v.found)
	case "anyOf", "oneOf":
		if strings.HasPrefix(v.found, "validated") {
			return "fit only one of the forms that its schema has, and fits several"
		}
		return "fit one of the forms that its schema has"
	}
	keyword, _, _ := strings.Cut(v.keyword, "[") // dependentRequired says of which member
	return fmt.Sprintf("fit its schema, by the keyword %q", fault.Truncate(keyword, maxEcho))
}

const hasType = ` has type "`

// given is the type that the value has instead.
func (v violated) given() string {
	at := strings.LastIndex(v.found, hasType)
	if at < 0 {
		return ""
	}
	kind, _, _ := strings.Cut(v.found[at+len(hasType):], `"`)
	return ", not " + article(kind)
}

// hint says what to do about a value that was only quoted, or misspelt.
func (v violated) hint(f *fault.Fault) *fault.Fault {
	switch v.keyword {
	case "type":
		at := strings.LastIndex(v.found, hasType+`string"`)
		if at < 0 || at > maxEcho {
			return f
		}
		text, kind := v.found[:at], v.schema.Get("type").Str
		switch {
		case kind == "integer" && isInteger(text), kind == "number" && gjson.Valid(text) && gjson.Parse(text).Type == gjson.Number:
			f.Suggest("Write it as a number, without quotes")
		case kind == "boolean" && (text == "true" || text == "false"):
			f.Suggest("Write %s without quotes", text)
		}
	case "enum":
		var known []string
		for _, value := range v.schema.Get("enum").Array() {
			known = append(known, value.String())
		}
		given, _, _ := strings.Cut(v.found, " does not equal any of: ")
		if near, ok := fault.Nearest(fault.Truncate(given, maxEcho), known); ok {
			f.Suggest("Did you mean %q?", near)
		}
	}
	return f
}

func isInteger(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil && gjson.Valid(text)
}

// typesOf names the one type, or the several, that a schema allows.
func typesOf(kinds gjson.Result) string {
	var all []string
	for _, kind := range kinds.Array() {
		all = append(all, article(kind.Str))
	}
	return strings.Join(all, " or ")
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

func unitOf(keyword string) string {
	switch keyword[len("min"):] {
	case "Length":
		return "characters"
	case "Items":
		return "items"
	}
	return "members"
}

// listed is the first of some JSON values.
func listed(values []gjson.Result) string {
	var all []string
	for _, value := range values[:min(len(values), maxListed)] {
		all = append(all, fault.Truncate(value.Raw, maxEcho))
	}
	if more := len(values) - maxListed; more > 0 {
		all = append(all, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(all, ", ")
}

// names is a list of names as the checker has it, ["a" "b"], as prose.
func names(list string) string {
	list = strings.TrimSuffix(strings.TrimPrefix(list, "["), "]")
	return fault.Truncate(strings.ReplaceAll(list, `" "`, `", "`), maxEcho)
}

// segmentsOf are the names in a place in a schema, /properties/a/items.
func segmentsOf(place string) []string {
	segments := strings.Split(strings.TrimPrefix(place, "/"), "/")
	for i, segment := range segments {
		segments[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(segment)
	}
	return segments
}

// within is the part of a schema at a place; what is no place in it is the schema itself.
func within(schema gjson.Result, place string) gjson.Result {
	part := schema
	for _, segment := range segmentsOf(place) {
		if i, err := strconv.Atoi(segment); part.IsArray() && err == nil && i < len(part.Array()) {
			part = part.Array()[i]
			continue
		}
		next, ok := part.Map()[segment]
		if !ok {
			return schema
		}
		part = next
	}
	return part
}

// argumentPath makes a.b[] of a place in the schema, /properties/a/properties/b/items.
func argumentPath(place string) string {
	segments := segmentsOf(place)
	var path strings.Builder
	for i := 0; i < len(segments); i++ {
		switch segments[i] {
		case "properties":
			if i++; i < len(segments) {
				path.WriteString("." + segments[i])
			}
		case "items":
			path.WriteString("[]")
		}
	}
	return strings.TrimPrefix(path.String(), ".")
}
