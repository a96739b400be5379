package veloflux

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"
)

// allTools is the table of tools, each under its dotted name.
func allTools() []Tool {
	all := append(catalogTools(), pipelineTools()...)
	for i := range all {
		all[i].Name = all[i].dotted
	}
	return all
}

// catalogTools tell what a pipeline's SQL can be made of.
func catalogTools() []Tool {
	return []Tool{
		{
			dotted: "catalog.functions", Title: "List functions",
			Description: "List all built-in SQL functions of the veloFlux Manager with signatures, constraints and examples (some 80 KB). " +
				"The resource veloFlux://catalog/functions_digest says it in a quarter of that; functions.describe tells about one.",
			InputSchema: input(""), OutputSchema: output(`"functions":{"type":"array","items":{"type":"object"}}`, "functions"),
			ReadOnly: true, Idempotent: true,
			narrow: "Read veloFlux://catalog/functions_digest, or ask functions.describe for one",
			call:   asked("functions", func(m *Manager, ctx context.Context, _ fields) (json.RawMessage, error) { return m.Functions(ctx) }),
			brief:  briefly("functions", functionsDigest),
		},
		{
			dotted: "catalog.syntax_capabilities", Title: "Show the SQL syntax",
			Description: "Show which SQL constructs the veloFlux Manager supports, as a tree with status, semantics, syntax and examples (some 13 KB). " +
				"The resource veloFlux://catalog/syntax_digest says it shorter.",
			InputSchema: input(""), OutputSchema: output(`"syntax_capabilities":{"type":"object"}`, "syntax_capabilities"),
			ReadOnly: true, Idempotent: true,
			narrow: "Read veloFlux://catalog/syntax_digest",
			call:   asked("syntax_capabilities", func(m *Manager, ctx context.Context, _ fields) (json.RawMessage, error) { return m.Syntax(ctx) }),
			brief:  briefly("syntax_capabilities", syntaxDigest),
		},
		{
			dotted: "functions.describe", Title: "Describe a function",
			Description:  "Describe one built-in SQL function by its name or an alias, in any case: signature, where it may stand, constraints, examples.",
			InputSchema:  input(`"name":{"type":"string","minLength":1,"description":"The function's name or an alias, such as sum"}`, "name"),
			OutputSchema: output(`"function":{"type":"object"}`, "function"),
			ReadOnly:     true, Idempotent: true,
			call: asked("function", func(m *Manager, ctx context.Context, args fields) (json.RawMessage, error) {
				return m.DescribeFunction(ctx, args.text("name"))
			}),
		},
		{
			dotted: "streams.describe", Title: "Describe a stream",
			Description:  "Describe one stream: type, schema (columns with name and data_type), properties, decoder, event time.",
			InputSchema:  input(`"name":{"type":"string","minLength":1,"description":"The stream's name as streams.list has it; case-sensitive"}`, "name"),
			OutputSchema: output(`"describe":{"type":"object"}`, "describe"),
			ReadOnly:     true, Idempotent: true,
			narrow: "Allow more bytes for a stream with this many columns",
			call: asked("describe", func(m *Manager, ctx context.Context, args fields) (json.RawMessage, error) {
				return m.DescribeStream(ctx, args.text("name"))
			}),
		},
		{
			dotted: "streams.list", Title: "List streams",
			Description: "List the streams of the veloFlux Manager, each with its name and schema (columns with name and data_type). " +
				"A pipeline's SQL selects FROM these names; they are case-sensitive.",
			InputSchema: input(""), OutputSchema: output(`"streams":{"type":"array","items":{"type":"object"}}`, "streams"),
			ReadOnly: true, Idempotent: true,
			narrow: "Read veloFlux://streams/snapshot for a summary, or ask streams.describe for one stream",
			call:   asked("streams", func(m *Manager, ctx context.Context, _ fields) (json.RawMessage, error) { return m.Streams(ctx) }),
			brief:  briefly("streams", func(body []byte) (json.RawMessage, error) { return streamsSnapshot(body, time.Now()) }),
		},
	}
}

// briefly puts the part of an answer under a name into the words of its digest.
func briefly(name string, digest func([]byte) (json.RawMessage, error)) func(json.RawMessage) string {
	return func(answer json.RawMessage) string {
		text, err := digest([]byte(gjson.GetBytes(answer, name).Raw))
		if err != nil {
			return ""
		}
		return string(text)
	}
}
