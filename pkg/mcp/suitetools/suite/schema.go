package suite

import "encoding/json"

// FaultSchema is the schema of a FAULT. It is short, because every tool has it and clients send all tools to their models.
const FaultSchema = `{"type":"object","description":"why the call failed, and what to do next","required":["type","message"],` +
	`"properties":{"type":{"type":"string"},"message":{"type":"string"},"suggestions":{"type":"array","items":{"type":"string"}}}}`

// AnswerSchema returns the schema of a tool's answers, which has the given properties. A failure is {"success":false,"error":FAULT}.
// Clients check every answer against this schema, so failures and answers that are not complete match it too: no property is
// required. The root has no anyOf or oneOf, because some clients drop a tool that has.
func AnswerSchema(properties string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `,"error":` + FaultSchema + `}}`)
}

// AlwaysLoad returns the _meta of a tool that a client shows to its model from the start. Claude Code shows only the names of
// the others, until the model searches for them.
func AlwaysLoad() map[string]any { return map[string]any{"anthropic/alwaysLoad": true} }
