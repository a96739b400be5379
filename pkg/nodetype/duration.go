package nodetype

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// DurationType is the type of a parameter that is a duration: a number of seconds, or text such as 500ms, 30s, 5m or 1h30m.
// Only the parameter timeout of built-in types has it.
const DurationType = "duration"

// TimeoutParam is the parameter that limits the time of a node.
const TimeoutParam = "timeout"

// maxSeconds is the longest duration, 100 years.
const maxSeconds = 100 * 365 * 24 * 3600

// ParseDuration parses a duration; ok is false if text is not a duration or is negative.
func ParseDuration(text string) (d time.Duration, ok bool) {
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		if !(s >= 0 && s <= maxSeconds) {
			return 0, false
		}
		return time.Duration(s * float64(time.Second)), true
	}
	d, err := time.ParseDuration(strings.TrimSpace(text))
	return d, err == nil && d >= 0
}

// DurationOf returns the duration that a JSON value is.
func DurationOf(raw json.RawMessage) (d time.Duration, ok bool) {
	raw = bytes.TrimSpace(raw)
	text, ok := textOf(raw)
	if !ok {
		return 0, false
	}
	return ParseDuration(text)
}

// textOf returns the text of a JSON string, without blanks around it, or the JSON of any other value.
func textOf(raw json.RawMessage) (text string, ok bool) {
	text = string(raw)
	if text != "" && text[0] == '"' && json.Unmarshal(raw, &text) != nil {
		return "", false
	}
	return strings.TrimSpace(text), true
}

// IsLimit reports whether a JSON value is a duration of more than 0.
func IsLimit(raw json.RawMessage) bool {
	d, ok := DurationOf(raw)
	return ok && d > 0
}

// fitDuration converts a duration to a number of seconds. A number keeps its spelling.
func fitDuration(raw json.RawMessage) (json.RawMessage, bool) {
	d, ok := DurationOf(raw)
	if !ok {
		return nil, false
	}
	if text, _ := textOf(raw); json.Valid([]byte(text)) {
		return json.RawMessage(text), true
	}
	return strconv.AppendFloat(nil, d.Seconds(), 'f', -1, 64), true
}

// LimitsTime reports whether the parameter timeout of a node is its time limit. It is not if the type has an argument of that
// name for its own purpose, as a tool of an MCP server may have.
func (t *Type) LimitsTime() bool {
	if p, ok := t.Param(TimeoutParam); ok {
		return p.Type == DurationType
	}
	return t.MCP == nil || len(t.Params) > 0 // a tool without an input schema takes any argument
}
