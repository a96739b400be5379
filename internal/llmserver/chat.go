package llmserver

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// chat is the OpenAI API POST /v1/chat/completions.
type chat struct{}

func (chat) read(body []byte, r *Request) error {
	var in struct {
		Model    string `json:"model"`
		Messages []struct {
			Role      string          `json:"role"`
			Content   json.RawMessage `json:"content"`
			ToolCalls []struct {
				Function struct {
					Name string `json:"name"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Stream        bool `json:"stream"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		ResponseFormat struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
		Tools []struct {
			Function struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		ToolChoice json.RawMessage `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	r.API, r.Model, r.Stream, r.Usage, r.Schema = Chat, in.Model, in.Stream, in.StreamOptions.IncludeUsage, in.ResponseFormat.JSONSchema.Schema
	for _, m := range in.Messages {
		var got Message
		if err := got.content(m.Content); err != nil {
			return err
		}
		switch m.Role {
		case "system", "developer":
			r.System = joined(r.System, got.Text)
			continue
		case "tool":
			got = Message{Results: []string{got.Text}}
			m.Role = "user"
		}
		for _, call := range m.ToolCalls {
			got.Calls = append(got.Calls, call.Function.Name)
		}
		got.Role = m.Role
		r.Messages = append(r.Messages, got)
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Function.Name, Schema: t.Function.Parameters})
	}
	var choice struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(in.ToolChoice, &choice) == nil {
		r.Forced = choice.Function.Name
	}
	return nil
}

func (chat) id(r *Request) string { return "chatcmpl-" + strconv.Itoa(r.Number) }

func (chat) usage(a *Answer) map[string]any {
	prompt := a.Input + a.CacheRead + a.CacheWrite
	usage := map[string]any{
		"prompt_tokens": prompt, "completion_tokens": a.Output, "total_tokens": prompt + a.Output,
		"prompt_tokens_details":     map[string]any{"cached_tokens": a.CacheRead, "audio_tokens": 0},
		"completion_tokens_details": map[string]any{"reasoning_tokens": 0},
	}
	if a.Cost != 0 {
		usage["cost"] = a.Cost
	}
	return usage
}

func toolCalls(r *Request, a *Answer, index bool) []any {
	var calls []any
	for i, c := range a.Calls {
		call := map[string]any{
			"id": "call_" + strconv.Itoa(r.Number) + "_" + strconv.Itoa(i), "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": string(c.Input)},
		}
		if index {
			call["index"] = i
		}
		calls = append(calls, call)
	}
	return calls
}

func (c chat) write(w http.ResponseWriter, r *Request, a *Answer) {
	message := map[string]any{"role": "assistant", "content": a.Text, "refusal": nil}
	if calls := toolCalls(r, a, false); calls != nil {
		message["tool_calls"] = calls
	}
	if a.Refusal != "" {
		message["content"], message["refusal"] = nil, a.Refusal
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"id": c.id(r), "object": "chat.completion", "created": 1700000000, "model": r.Model,
		"choices": []any{map[string]any{
			"index": 0, "message": message, "logprobs": nil, "finish_reason": a.reason("stop", "tool_calls"),
		}},
		"usage": c.usage(a),
	})
}

func (c chat) stream(w http.ResponseWriter, r *Request, a *Answer) {
	chunk := func(choices []any, usage any) {
		out := map[string]any{"id": c.id(r), "object": "chat.completion.chunk", "created": 1700000000, "model": r.Model, "choices": choices}
		if r.Usage {
			out["usage"] = usage
		}
		event(w, "", out)
	}
	choice := func(delta map[string]any, reason any) {
		chunk([]any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": reason}}, nil)
	}
	choice(map[string]any{"role": "assistant", "content": "", "refusal": nil}, nil)
	for _, piece := range pieces(a.Text) {
		choice(map[string]any{"content": piece}, nil)
	}
	if calls := toolCalls(r, a, true); calls != nil {
		choice(map[string]any{"tool_calls": calls}, nil)
	}
	choice(map[string]any{}, a.reason("stop", "tool_calls"))
	if r.Usage {
		chunk([]any{}, c.usage(a))
	}
	event(w, "", json.RawMessage("[DONE]"))
}

func (chat) fail(w http.ResponseWriter, status int, kind, code, message string) {
	e := map[string]any{"message": message, "type": kind, "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	writeJSON(w, status, map[string]any{"error": e})
}
