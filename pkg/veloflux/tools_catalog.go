package veloflux

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"
)

// allTools returns all tools, each under its dotted name.
func allTools() []Tool {
	all := append(catalogTools(), pipelineTools()...)
	for i := range all {
		all[i].Name = all[i].dotted
	}
	return all
}

// catalogTools returns the tools that describe what SQL can use: functions, syntax and streams.
func catalogTools() []Tool {
	return []Tool{
		{
			dotted: "catalog.functions", Title: "List functions",
			Description: "List all built-in SQL functions of the veloFlux Manager with signatures, constraints and examples (some 80 KB). " +
				"The resource veloFlux://catalog/functions_digest has the essentials in a quarter of that; functions.describe describes one function.",
			InputSchema: inputSchema(""), OutputSchema: outputSchema(`"functions":{"type":"array","items":{"type":"object"}}`, "functions"),
			ReadOnly: true, Idempotent: true,
			ifTooLarge: "Read veloFlux://catalog/functions_digest, or call functions.describe for one function",
			call:       fetchCall("functions", func(m *Manager, ctx context.Context, _ arguments) (json.RawMessage, error) { return m.Functions(ctx) }),
			brief:      digestOfMember("functions", functionsDigest),
		},
		{
			dotted: "catalog.syntax_capabilities", Title: "Show the SQL syntax",
			Description: "Show which SQL constructs the veloFlux Manager supports, as a tree with status, semantics, syntax and examples (some 13 KB). " +
				"The resource veloFlux://catalog/syntax_digest is a shorter form.",
			InputSchema: inputSchema(""), OutputSchema: outputSchema(`"syntax_capabilities":{"type":"object"}`, "syntax_capabilities"),
			ReadOnly: true, Idempotent: true,
			ifTooLarge: "Read veloFlux://catalog/syntax_digest",
			call:       fetchCall("syntax_capabilities", func(m *Manager, ctx context.Context, _ arguments) (json.RawMessage, error) { return m.Syntax(ctx) }),
			brief:      digestOfMember("syntax_capabilities", syntaxDigest),
		},
		{
			dotted: "functions.describe", Title: "Describe a function",
			Description:  "Describe one built-in SQL function, given its name or an alias in any case: signature, where it may be used, constraints, examples.",
			InputSchema:  inputSchema(`"name":{"type":"string","minLength":1,"description":"The function's name or an alias, such as sum"}`, "name"),
			OutputSchema: outputSchema(`"function":{"type":"object"}`, "function"),
			ReadOnly:     true, Idempotent: true,
			call: fetchCall("function", func(m *Manager, ctx context.Context, args arguments) (json.RawMessage, error) {
				return m.DescribeFunction(ctx, args.text("name"))
			}),
		},
		{
			dotted: "streams.describe", Title: "Describe a stream",
			Description:  "Describe one stream: type, schema (columns with name and data_type), properties, decoder, event time.",
			InputSchema:  inputSchema(`"name":{"type":"string","minLength":1,"description":"The stream's name as streams.list shows it; case-sensitive"}`, "name"),
			OutputSchema: outputSchema(`"describe":{"type":"object"}`, "describe"),
			ReadOnly:     true, Idempotent: true,
			ifTooLarge: "Allow more bytes for a stream with this many columns",
			call: fetchCall("describe", func(m *Manager, ctx context.Context, args arguments) (json.RawMessage, error) {
				return m.DescribeStream(ctx, args.text("name"))
			}),
		},
		{
			dotted: "streams.list", Title: "List streams",
			Description: "List the streams of the veloFlux Manager, each with its name and schema (columns with name and data_type). " +
				"A pipeline's SQL selects FROM these names; they are case-sensitive.",
			InputSchema: inputSchema(""), OutputSchema: outputSchema(`"streams":{"type":"array","items":{"type":"object"}}`, "streams"),
			ReadOnly: true, Idempotent: true,
			ifTooLarge: "Read veloFlux://streams/snapshot for a summary, or call streams.describe for one stream",
			call:       fetchCall("streams", func(m *Manager, ctx context.Context, _ arguments) (json.RawMessage, error) { return m.Streams(ctx) }),
			brief:      digestOfMember("streams", func(body []byte) (json.RawMessage, error) { return streamsSnapshot(body, time.Now()) }),
		},
	}
}

// digestOfMember returns a function that makes a digest of the member with the given name, or "" if that fails.
func digestOfMember(name string, digest func([]byte) (json.RawMessage, error)) func(json.RawMessage) string {
	return func(answer json.RawMessage) string {
		text, err := digest([]byte(gjson.GetBytes(answer, name).Raw))
		if err != nil {
			return ""
		}
		return string(text)
	}
}
