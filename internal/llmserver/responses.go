package llmserver

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// responses is the OpenAI API POST /v1/responses, as far as an agent such as codex needs it.
type responses struct{}

func (responses) read(body []byte, r *Request) error {
	var in struct {
		Model        string `json:"model"`
		Instructions string `json:"instructions"`
		Input        []struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Name    string          `json:"name"`
			Output  json.RawMessage `json:"output"`
		} `json:"input"`
		Stream bool `json:"stream"`
		Text   struct {
			Format struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"text"`
		Tools []struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	r.API, r.Model, r.Stream, r.System, r.Schema = Responses, in.Model, in.Stream, in.Instructions, in.Text.Format.Schema
	for _, item := range in.Input {
		switch {
		case item.Type == "function_call":
			r.Messages = append(r.Messages, Message{Role: "assistant", Calls: []string{item.Name}})
		case item.Type == "function_call_output":
			r.Messages = append(r.Messages, Message{Role: "user", Results: []string{string(item.Output)}})
		case item.Role != "":
			text, err := textOf(item.Content)
			if err != nil {
				return err
			}
			got := Message{Role: item.Role, Text: text}
			if item.Role == "developer" || item.Role == "system" {
				r.System = joined(r.System, got.Text)
				continue
			}
			r.Messages = append(r.Messages, got)
		}
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Name, Schema: t.Parameters})
	}
	return nil
}

// textOf returns the text of a message, which is a string or a list of parts.
func textOf(content json.RawMessage) (text string, err error) {
	if len(content) > 0 && content[0] == '"' {
		return text, json.Unmarshal(content, &text)
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(content, &parts); err != nil {
		return "", err
	}
	for _, p := range parts {
		text = joined(text, p.Text)
	}
	return text, nil
}

// output returns the items of an answer: the text, then the calls.
func (responses) output(r *Request, a *Answer) []any {
	items := []any{}
	if a.Text != "" {
		items = append(items, map[string]any{
			"id": "msg_" + strconv.Itoa(r.Number), "type": "message", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": a.Text, "annotations": []any{}}},
		})
	}
	for i, c := range a.Calls {
		id := strconv.Itoa(r.Number) + "_" + strconv.Itoa(i)
		items = append(items, map[string]any{
			"id": "fc_" + id, "call_id": "call_" + id, "type": "function_call", "name": c.Name, "arguments": string(c.Input), "status": "completed",
		})
	}
	return items
}

// response returns an answer with its items. Without items it is in progress.
func (s responses) response(r *Request, a *Answer, items []any) map[string]any {
	prompt := a.Input + a.CacheRead + a.CacheWrite
	out := map[string]any{
		"id": "resp_" + strconv.Itoa(r.Number), "object": "response", "created_at": 1700000000, "model": r.Model, "status": "in_progress", "output": []any{},
	}
	if items == nil {
		return out
	}
	out["status"], out["output"] = "completed", items
	out["usage"] = map[string]any{
		"input_tokens": prompt, "output_tokens": a.Output, "total_tokens": prompt + a.Output,
		"input_tokens_details":  map[string]any{"cached_tokens": a.CacheRead},
		"output_tokens_details": map[string]any{"reasoning_tokens": 0},
	}
	return out
}

func (s responses) write(w http.ResponseWriter, r *Request, a *Answer) {
	writeJSON(w, http.StatusOK, s.response(r, a, s.output(r, a)))
}

func (s responses) stream(w http.ResponseWriter, r *Request, a *Answer) {
	number := 0
	send := func(kind string, fields map[string]any) {
		fields["type"], fields["sequence_number"] = kind, number
		number++
		event(w, kind, fields)
	}
	send("response.created", map[string]any{"response": s.response(r, a, nil)})
	items := s.output(r, a)
	for i, item := range items {
		send("response.output_item.added", map[string]any{"output_index": i, "item": item})
		send("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	send("response.completed", map[string]any{"response": s.response(r, a, items)})
}

func (responses) fail(w http.ResponseWriter, status int, kind, code, message string) {
	chat{}.fail(w, status, kind, code, message)
}
