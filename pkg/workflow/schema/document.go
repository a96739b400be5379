package schema

import (
	"bytes"
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// schema is the part of JSON Schema (draft 2020-12) that the package uses.
type schema struct {
	Schema      string `json:"$schema,omitempty"`
	Ref         string `json:"$ref,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Deprecated  bool   `json:"deprecated,omitempty"`

	Type    string   `json:"type,omitempty"`
	Format  string   `json:"format,omitempty"`
	Const   any      `json:"const,omitempty"`
	Enum    []string `json:"enum,omitempty"`
	Default any      `json:"default,omitempty"`

	MinLength        int      `json:"minLength,omitempty"`
	Pattern          string   `json:"pattern,omitempty"`
	Minimum          *float64 `json:"minimum,omitempty"`
	ExclusiveMinimum *float64 `json:"exclusiveMinimum,omitempty"`
	Maximum          *float64 `json:"maximum,omitempty"`

	Items       *schema `json:"items,omitempty"`
	MinItems    int     `json:"minItems,omitempty"`
	MaxItems    int     `json:"maxItems,omitempty"`
	UniqueItems bool    `json:"uniqueItems,omitempty"`

	Properties           properties          `json:"properties,omitempty"`
	PatternProperties    map[string]*schema  `json:"patternProperties,omitempty"`
	AdditionalProperties any                 `json:"additionalProperties,omitempty"`
	PropertyNames        *schema             `json:"propertyNames,omitempty"`
	DependentRequired    map[string][]string `json:"dependentRequired,omitempty"`
	MinProperties        int                 `json:"minProperties,omitempty"`
	Required             []string            `json:"required,omitempty"`

	If    *schema            `json:"if,omitempty"`
	Then  *schema            `json:"then,omitempty"`
	Else  *schema            `json:"else,omitempty"`
	AllOf []*schema          `json:"allOf,omitempty"`
	AnyOf []*schema          `json:"anyOf,omitempty"`
	OneOf []*schema          `json:"oneOf,omitempty"`
	Not   *schema            `json:"not,omitempty"`
	Defs  map[string]*schema `json:"$defs,omitempty"`
}

// reject is the schema that accepts no value.
type reject struct{}

// MarshalJSON writes false.
func (reject) MarshalJSON() ([]byte, error) { return []byte("false"), nil }

// property is a field of an object.
type property struct {
	name   string
	schema *schema
}

// properties keeps its order, in which editors offer the fields.
type properties []property

// MarshalJSON writes an object.
func (p properties) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, field := range p {
		if i > 0 {
			out = append(out, ',')
		}
		value, err := rawjson.Marshal(field.schema)
		if err != nil {
			return nil, err
		}
		out = append(append(rawjson.AppendQuoted(out, field.name), ':'), value...)
	}
	return append(out, '}'), nil
}

// indent formats a schema for people.
func indent(text []byte) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, text, "", "  ") // the text comes from an encoder
	b.WriteByte('\n')
	return b.Bytes()
}
