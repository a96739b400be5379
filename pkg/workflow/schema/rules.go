package schema

import (
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// The rules hold what the Go types do not: the values of a field, its default, and its short forms.

// duration accepts a number of seconds or text such as 1h30m. If positive, the duration must be more than 0.
func duration(positive bool) *schema {
	seconds := &schema{Type: "number", Minimum: new(float64(0)), Maximum: new(float64(100 * 365 * 24 * 3600))}
	text := &schema{Type: "string", Pattern: `^(\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|\s*\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+\s*)$`}
	if positive {
		seconds.Minimum, seconds.ExclusiveMinimum = nil, new(float64(0))
		text.Not = &schema{Pattern: `^[^1-9]*$`}
	}
	return &schema{AnyOf: []*schema{seconds, text}}
}

// size accepts a number of bytes or text such as 30MB.
func size() *schema {
	number := &schema{Type: "integer", Minimum: new(float64(1)), Maximum: new(float64(rawjson.MaxBytes))}
	text := &schema{Type: "string", Pattern: `^\s*([0-9]+ *[bB]?|([0-9]+(\.[0-9]*)?|\.[0-9]+) *[kKmMgGtT]([iI]?[bB])?)\s*$`, Not: &schema{Pattern: `^[^1-9]*$`}}
	return &schema{AnyOf: []*schema{number, text}}
}

// enum accepts the given words. The first is the default.
func enum(words ...string) func(*schema) {
	return func(s *schema) { s.Enum, s.Default = words, words[0] }
}

// between accepts numbers from least to most. The default may be nil.
func between(least, most float64, standard any) func(*schema) {
	return func(s *schema) { s.Minimum, s.Maximum, s.Default = new(least), new(most), standard }
}

// runner is the rule of the name of a runner.
func runner(s *schema) { s.Pattern = "^[a-z0-9]+(-[a-z0-9]+)*$" }

// notEmpty accepts text that is not empty.
// amount is the rule of a number of a budget.
func amount(s *schema) {
	s.ExclusiveMinimum, s.Maximum = new(float64(0)), new(float64(workflow.MaxAmount))
}

func notEmpty(s *schema) { s.MinLength = 1 }

// positive accepts durations of more than 0. The default may be nil.
func positive(standard any) func(*schema) {
	return func(s *schema) { s.AnyOf, s.Default = duration(true).AnyOf, standard }
}

// also accepts other forms of a field.
func also(forms ...*schema) func(*schema) {
	return func(s *schema) {
		own := *s
		own.Description = ""
		*s = schema{Description: s.Description, AnyOf: append(forms, &own)}
	}
}

// template accepts text with a ${ that is not escaped.
func template() *schema { return &schema{Type: "string", Pattern: `(^|[^$])\$\{`} }

func boolean(value bool) *schema { return &schema{Const: value} }

// rules returns the rules of fields, by the names of their type and their JSON field.
func rules() map[string]func(*schema) {
	return map[string]func(*schema){
		"Workflow.ir_version":               func(s *schema) { s.Pattern = `^[0-9]+\.[0-9]+\.[0-9]+$` },
		"Workflow.inputs":                   func(s *schema) { s.PropertyNames = &schema{MinLength: 1} },
		"Workflow.outputs":                  func(s *schema) { s.PropertyNames = &schema{MinLength: 1} },
		"Workflow.template_resolution_mode": enum("strict", "permissive"),
		"Workflow.executionType":            enum("async", "sync"),
		"Workflow.tags":                     func(s *schema) { s.Items.Pattern = `\S` },

		"Budget.usd":     amount,
		"Budget.tokens":  between(1, workflow.MaxTokens, nil),
		"Budget.minutes": amount,

		"Workflow.runs_on": runner,
		"Node.runs_on":     runner,

		"Node.id":       notEmpty,
		"Node.type":     notEmpty,
		"Node.params":   func(s *schema) { s.Type = "object" },
		"Node.batch":    also(&schema{Type: "string", Pattern: `^\.\.?/[^\s$]+$`}),
		"Node.retry":    also(&schema{Type: "integer", Minimum: new(float64(1)), Maximum: new(float64(100))}),
		"Node.timeout":  also(duration(true).AnyOf...),
		"Node.approval": also(&schema{Type: "boolean"}, &schema{Const: "required"}),
		"Node.cache":    also(&schema{Type: "boolean"}),

		"Batch.items":          func(s *schema) { s.AnyOf = []*schema{{Type: "array"}, template()} },
		"Batch.as":             func(s *schema) { s.Pattern, s.Default = `^(?:[A-Za-z]|_(?:[A-Za-z0-9-]|$))[A-Za-z0-9_-]*$`, "item" },
		"Batch.error_handling": enum("fail_fast", "continue"),
		"Batch.max_concurrent": between(1, 100, 10),
		"Batch.max_retries":    between(1, 10, 1),

		"Loop.while": func(s *schema) { s.Type, s.AnyOf = "", []*schema{template(), boolean(true), {Const: "true"}} },
		"Loop.until": func(s *schema) { s.Pattern = template().Pattern },
		"Loop.max_iterations": func(s *schema) {
			s.AnyOf, s.Default = []*schema{{Type: "integer", Minimum: new(float64(1)), Maximum: new(float64(10000))}, template()}, 100
		},
		"Loop.wait": func(s *schema) { s.AnyOf = append(duration(false).AnyOf, template()) },
		"Loop.backoff": func(s *schema) {
			s.AnyOf, s.Default = []*schema{{Enum: []string{"fixed", "exponential"}}, template()}, "fixed"
		},
		"Loop.max_wait": func(s *schema) { s.AnyOf, s.Default = append(duration(true).AnyOf, template()), "60s" },

		"Retry.max":             between(1, 100, nil),
		"Retry.backoff":         enum("fixed", "exponential"),
		"Retry.max_wait":        positive("60s"),
		"Retry.jitter":          between(0, 1, nil),
		"Retry.only_exit_codes": func(s *schema) { s.MinItems, s.Items.Minimum, s.Items.Maximum = 1, new(float64(1)), new(float64(255)) },

		"Timeout.node":    positive(nil),
		"Timeout.attempt": positive(nil),
		"Cache.ttl":       positive("24h"),
		"Approval.choices": func(s *schema) {
			s.MinItems, s.MaxItems, s.UniqueItems, s.Items.Pattern = 2, 100, true, `\S`
		},

		"Approval.by": enum("anyone", "person"),

		"Edge.from":   notEmpty,
		"Edge.to":     notEmpty,
		"Edge.action": func(s *schema) { s.Default = "default" },

		"Input.type": func(s *schema) {
			s.Enum = []string{"string", "number", "integer", "boolean", "object", "array", "any", "str", "int", "float", "bool", "dict", "list", ""}
			s.Default = "any"
		},
		"Output.source": notEmpty,
	}
}

// finishing returns rules for objects, by the name of their type: synonyms of fields, and fields that exclude each other.
func finishing() map[string]func(*schema) {
	return map[string]func(*schema){
		"Workflow": func(s *schema) {
			s.Properties = append(s.Properties, property{"enable_namespacing", &schema{Const: true, Deprecated: true}})
		},
		"Node": func(s *schema) {
			s.Properties = append(s.Properties,
				property{"inputs", &schema{Type: "object", Description: "values with local names that the node's other templates can use"}},
				property{"parameters", &schema{Type: "object", Deprecated: true, Description: "the same as params"}})
			s.Not = &schema{Required: []string{"params", "parameters"}}
			s.PatternProperties = map[string]*schema{"^_source": {}} // pflow's Python parser adds such fields
		},
		"Edge": func(s *schema) {
			s.Required = nil
			for _, pair := range [][2]string{{"from", "source"}, {"to", "target"}} {
				s.Properties = append(s.Properties, property{pair[1], &schema{Type: "string", MinLength: 1, Deprecated: true, Description: "the same as " + pair[0]}})
				s.AllOf = append(s.AllOf, &schema{OneOf: []*schema{{Required: pair[:1]}, {Required: pair[1:]}}})
			}
		},
		"Loop": func(s *schema) {
			s.OneOf = []*schema{{Required: []string{"while"}}, {Required: []string{"until"}}}
			s.DependentRequired = map[string][]string{"backoff": {"wait"}, "max_wait": {"wait"}}
		},
		"Timeout": func(s *schema) { s.MinProperties = 1 },
	}
}
