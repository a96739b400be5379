package schema

// What the Go types do not say: which values a field takes, what is meant without it, and its short forms.

// duration is a time: a number of seconds, or text; at least so long, or with more than 0 longer than none.
func duration(more float64) *schema {
	seconds := &schema{Type: "number", Minimum: new(float64(0)), Maximum: new(float64(100 * 365 * 24 * 3600))}
	text := &schema{Type: "string", Pattern: `^(\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|\s*\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+\s*)$`}
	if more > 0 {
		seconds.Minimum, seconds.ExclusiveMinimum = nil, new(float64(0))
		text.Not = &schema{Pattern: `^[^1-9]*$`}
	}
	return &schema{AnyOf: []*schema{seconds, text}}
}

func enum(words ...string) func(*schema) {
	return func(s *schema) { s.Enum, s.Default = words, words[0] }
}

func whole(least, most float64, meant any) func(*schema) {
	return func(s *schema) { s.Minimum, s.Maximum, s.Default = new(least), new(most), meant }
}

func filled(s *schema) { s.MinLength = 1 }

// positive makes a duration one that is longer than none.
func positive(meant any) func(*schema) {
	return func(s *schema) { s.AnyOf, s.Default = duration(1).AnyOf, meant }
}

// also lets a field take other forms besides.
func also(forms ...*schema) func(*schema) {
	return func(s *schema) {
		own := *s
		own.Description = ""
		*s = schema{Description: s.Description, AnyOf: append(forms, &own)}
	}
}

// template is text that holds ${ which is not escaped.
func template() *schema { return &schema{Type: "string", Pattern: `(^|[^$])\$\{`} }

func boolean(value bool) *schema { return &schema{Const: value} }

// rules are what bounds fields, by the name of the type and the field.
func rules() map[string]func(*schema) {
	return map[string]func(*schema){
		"Workflow.ir_version":               func(s *schema) { s.Pattern = `^[0-9]+\.[0-9]+\.[0-9]+$` },
		"Workflow.inputs":                   func(s *schema) { s.PropertyNames = &schema{MinLength: 1} },
		"Workflow.outputs":                  func(s *schema) { s.PropertyNames = &schema{MinLength: 1} },
		"Workflow.template_resolution_mode": enum("strict", "permissive"),

		"Node.id":       filled,
		"Node.type":     filled,
		"Node.params":   func(s *schema) { s.Type = "object" },
		"Node.retry":    also(&schema{Type: "integer", Minimum: new(float64(1)), Maximum: new(float64(100))}),
		"Node.timeout":  also(duration(1).AnyOf...),
		"Node.approval": also(&schema{Type: "boolean"}, &schema{Const: "required"}),
		"Node.cache":    also(&schema{Type: "boolean"}),

		"Batch.items":          func(s *schema) { s.AnyOf = []*schema{{Type: "array"}, template()} },
		"Batch.as":             func(s *schema) { s.Pattern, s.Default = `^(?:[A-Za-z]|_(?:[A-Za-z0-9-]|$))[A-Za-z0-9_-]*$`, "item" },
		"Batch.error_handling": enum("fail_fast", "continue"),
		"Batch.max_concurrent": whole(1, 100, 10),
		"Batch.max_retries":    whole(1, 10, 1),

		"Loop.while":          func(s *schema) { s.Type, s.AnyOf = "", []*schema{template(), boolean(true), {Const: "true"}} },
		"Loop.until":          func(s *schema) { s.Pattern = template().Pattern },
		"Loop.max_iterations": whole(1, 10000, 100),

		"Retry.max":             whole(1, 100, nil),
		"Retry.backoff":         enum("fixed", "exponential"),
		"Retry.max_wait":        positive("60s"),
		"Retry.jitter":          whole(0, 1, nil),
		"Retry.only_exit_codes": func(s *schema) { s.MinItems, s.Items.Minimum, s.Items.Maximum = 1, new(float64(1)), new(float64(255)) },

		"Timeout.node":    positive(nil),
		"Timeout.attempt": positive(nil),
		"Cache.ttl":       positive("24h"),
		"Approval.choices": func(s *schema) {
			s.MinItems, s.MaxItems, s.UniqueItems, s.Items.Pattern = 2, 100, true, `\S`
		},

		"Edge.from":   filled,
		"Edge.to":     filled,
		"Edge.action": func(s *schema) { s.Default = "default" },

		"Input.type": func(s *schema) {
			s.Enum = []string{"string", "number", "integer", "boolean", "object", "array", "any", "str", "int", "float", "bool", "dict", "list", ""}
			s.Default = "any"
		},
		"Output.source": filled,
	}
}

// finishing adds to an object what is not about one field: synonyms, and fields that go together.
func finishing() map[string]func(*schema) {
	return map[string]func(*schema){
		"Workflow": func(s *schema) {
			s.Properties = append(s.Properties, property{"enable_namespacing", &schema{Const: true, Deprecated: true}})
		},
		"Node": func(s *schema) {
			s.Properties = append(s.Properties,
				property{"inputs", &schema{Type: "object", Description: "values with names of the node's own, for its other templates to use"}},
				property{"parameters", &schema{Type: "object", Deprecated: true, Description: "the same as params"}})
			s.Not = &schema{Required: []string{"params", "parameters"}}
			s.PatternProperties = map[string]*schema{"^_source": {}} // upstream's parser leaves such behind
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
		},
		"Timeout": func(s *schema) { s.MinProperties = 1 },
	}
}
