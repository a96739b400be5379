package llmserver

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// messages is the Anthropic API POST /v1/messages.
type messages struct{}

func (messages) read(body []byte, r *Request) error {
	var in struct {
		Model    string          `json:"model"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Stream       bool `json:"stream"`
		OutputConfig struct {
			Format struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`
		Tools []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		ToolChoice struct {
			Name string `json:"name"`
		} `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	r.API, r.Model, r.Stream, r.Schema, r.Forced = Messages, in.Model, in.Stream, in.OutputConfig.Format.Schema, in.ToolChoice.Name
	var system Message
	if err := system.content(in.System); err != nil {
		return err
	}
	r.System = system.Text
	for _, m := range in.Messages {
		got := Message{Role: m.Role}
		if err := got.content(m.Content); err != nil {
			return err
		}
		r.Messages = append(r.Messages, got)
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Name, Schema: t.InputSchema})
	}
	return nil
}

func (messages) id(r *Request) string { return "msg_" + strconv.Itoa(r.Number) }

func (messages) usage(a *Answer) map[string]any {
	return map[string]any{
		"input_tokens": a.Input, "output_tokens": a.Output, "cache_creation_input_tokens": a.CacheWrite,
		"cache_read_input_tokens": a.CacheRead, "service_tier": "standard",
	}
}

func useID(r *Request, i int) string {
	return "toolu_" + strconv.Itoa(r.Number) + "_" + strconv.Itoa(i)
}

// message returns an answer as a message with the given content.
func (m messages) message(r *Request, content []any, reason any, usage map[string]any) map[string]any {
	return map[string]any{
		"id": m.id(r), "type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": reason, "stop_sequence": nil, "usage": usage,
	}
}

func (m messages) write(w http.ResponseWriter, r *Request, a *Answer) {
	content := []any{}
	if a.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": a.Text})
	}
	for i, c := range a.Calls {
		content = append(content, map[string]any{"type": "tool_use", "id": useID(r, i), "name": c.Name, "input": c.Input})
	}
	writeJSON(w, http.StatusOK, m.message(r, content, a.reason("end_turn", "tool_use"), m.usage(a)))
}

func (m messages) stream(w http.ResponseWriter, r *Request, a *Answer) {
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		event(w, kind, fields)
	}
	begun := m.usage(a)
	begun["output_tokens"] = 1
	send("message_start", map[string]any{"message": m.message(r, []any{}, nil, begun)})
	send("ping", map[string]any{})
	index := 0
	block := func(start map[string]any, deltas []map[string]any) {
		send("content_block_start", map[string]any{"index": index, "content_block": start})
		for _, delta := range deltas {
			send("content_block_delta", map[string]any{"index": index, "delta": delta})
		}
		send("content_block_stop", map[string]any{"index": index})
		index++
	}
	if a.Text != "" {
		var deltas []map[string]any
		for _, piece := range pieces(a.Text) {
			deltas = append(deltas, map[string]any{"type": "text_delta", "text": piece})
		}
		block(map[string]any{"type": "text", "text": ""}, deltas)
	}
	for i, c := range a.Calls {
		var deltas []map[string]any
		for _, piece := range pieces(string(c.Input)) {
			deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": piece})
		}
		block(map[string]any{"type": "tool_use", "id": useID(r, i), "name": c.Name, "input": map[string]any{}}, deltas)
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": a.reason("end_turn", "tool_use"), "stop_sequence": nil}, "usage": m.usage(a),
	})
	send("message_stop", map[string]any{})
}

func (messages) fail(w http.ResponseWriter, status int, kind, _, message string) {
	writeJSON(w, status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
}
