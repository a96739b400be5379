// Package schema generates the JSON Schema of workflow files from the Go types and their help tags. Editors use it to
// complete and check a file.
package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// JSON returns the schema (draft 2020-12) of workflow files in the JSON form, bare or wrapped. It covers the form of a file.
// Node types, templates and the order of nodes are left to package check.
func JSON() []byte {
	b := &builder{defs: map[string]*schema{}, rules: rules(), finishing: finishing()}
	bare := b.object(reflect.TypeFor[workflow.Workflow]())
	inner := &schema{Ref: b.define("workflow", bare)}
	saved := properties{
		{"version", &schema{Type: "string", Description: "the version of a saved workflow"}},
		{"created_at", &schema{Type: "string", Format: "date-time", Description: "when the workflow was first saved"}},
		{"updated_at", &schema{Type: "string", Format: "date-time", Description: "when the workflow was last saved"}},
	}
	outer := *bare
	outer.Properties = append(slices.Clip(outer.Properties), saved...)
	wrapped := closed(append(properties{
		{"name", &schema{Type: "string"}},
		{"description", &schema{Type: "string", Description: "what the workflow is for"}},
		{"ir", inner},
		{"rich_metadata", &schema{Type: "object", Description: "what pflow records about its runs"}},
	}, saved...), "ir")
	root := &schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", Title: "pflow workflow",
		If:   &schema{Type: "object", Required: []string{"ir"}},
		Then: wrapped, Else: &outer, Defs: b.defs,
	}
	text, _ := rawjson.Marshal(root) // plain values always have a JSON form
	return indent(text)
}

// builder builds the schemas of Go types. Each struct has one named definition.
type builder struct {
	defs             map[string]*schema
	rules, finishing map[string]func(*schema)
}

// define names a schema and returns the reference to it.
func (b *builder) define(name string, s *schema) string {
	b.defs[name] = s
	return "#/$defs/" + name
}

// object returns the schema of a struct: its JSON fields with their help tags and rules.
func (b *builder) object(t reflect.Type) *schema {
	var fields properties
	var required []string
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() {
			continue
		}
		s := b.value(f.Type)
		s.Description = f.Tag.Get("help")
		if rule, ok := b.rules[t.Name()+"."+name]; ok {
			rule(s)
		}
		fields = append(fields, property{name, s})
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	s := closed(fields, required...)
	if finish, ok := b.finishing[t.Name()]; ok {
		finish(s)
	}
	return s
}

// closed returns the schema of an object with the given fields and no others.
func closed(fields properties, required ...string) *schema {
	return &schema{Type: "object", Properties: fields, Required: required, AdditionalProperties: reject{}}
}

// value returns the schema of a type.
func (b *builder) value(t reflect.Type) *schema {
	switch {
	case t == reflect.TypeFor[workflow.Duration]():
		return duration(false)
	case t == reflect.TypeFor[rawjson.Bytes]():
		return size()
	case t == reflect.TypeFor[json.RawMessage]():
		return &schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.value(t.Elem())
	case reflect.Slice:
		return &schema{Type: "array", Items: b.value(t.Elem())}
	case reflect.Map:
		return &schema{Type: "object", AdditionalProperties: b.value(t.Elem())}
	case reflect.Struct:
		name := strings.ToLower(t.Name())
		if _, ok := b.defs[name]; !ok {
			b.define(name, b.object(t))
		}
		return &schema{Ref: "#/$defs/" + name}
	}
	return &schema{Type: typeOf(t.Kind())}
}

func typeOf(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "boolean"
	case reflect.Int:
		return "integer"
	case reflect.Float64:
		return "number"
	}
	return "string"
}
