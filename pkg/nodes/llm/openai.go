package llm

import (
	"errors"
	"maps"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// openaiRequest returns a question as a request of the chat completions API.
func (x *exchange) openaiRequest(q *question) object {
	var messages []object
	say := func(role string, content any) { messages = append(messages, object{"role": role, "content": content}) }
	if system := q.instructions(); system != "" {
		say("system", x.openaiContent(q, system, nil))
	}
	for i, t := range q.turns {
		switch {
		case t.assistant:
			say("assistant", t.text)
		case i == 0:
			say("user", x.openaiContent(q, t.text, q.images))
		default:
			say("user", t.text)
		}
	}
	body := object{"model": q.model, "messages": messages}
	if key := x.cacheKey(q); key != "" {
		body["prompt_cache_key"] = key
	}
	if q.temperature != nil {
		body["temperature"] = *q.temperature
	}
	switch {
	case q.maxTokens == 0:
	case x.at.own && x.at.provider == openaiName: // its reasoning models reject max_tokens
		body["max_completion_tokens"] = q.maxTokens
	default: // other servers often do not know the newer name
		body["max_tokens"] = q.maxTokens
	}
	if q.schema != nil && !q.schemaInPrompt {
		body["response_format"] = object{"type": "json_schema", "json_schema": object{
			"name": "answer", "schema": q.schema.Source(), "strict": q.schema.Strict(),
		}}
	}
	x.thinkOpenAI(q, body)
	maps.Copy(body, q.options)
	return body
}

// openaiContent returns a text and images as the content of a message. Some servers know only text, and no list of parts.
func (x *exchange) openaiContent(q *question, text string, images []image) any {
	marked := x.marksCache(q)
	if len(images) == 0 && !marked {
		return text
	}
	var parts []object
	for _, image := range images {
		parts = append(parts, object{"type": "image_url", "image_url": object{"url": image.dataURL()}})
	}
	return append(parts, textPart(text, marked))
}

// openaiReply reads a completion. Fields of other types than the API has are ignored.
func openaiReply(completion gjson.Result) (*reply, error) {
	choices := completion.Get("choices")
	choice := choices.Get("0")
	message := choice.Get("message")
	switch {
	case !completion.IsObject():
		return nil, errNotObject
	case !choices.IsArray() || !choice.Exists():
		return nil, errors.New("it has no choices")
	case !message.IsObject():
		return nil, errors.New("its first choice has no message")
	}
	text, refusal := message.Get("content"), message.Get("refusal").Str
	r := &reply{text: text.Str, stop: choice.Get("finish_reason").Str}
	switch {
	case r.stop == "content_filter":
		r.end = refused
	case refusal != "":
		r.end, r.text, r.stop = refused, refusal, "refusal"
	case r.stop == "length":
		r.end = cutOff
	case text.Type != gjson.String:
		return nil, errors.New("its first choice has no text")
	}
	u := completion.Get("usage")
	r.usage = nodetype.Usage{
		Model: completion.Get("model").Str, InputTokens: tokens(u.Get("prompt_tokens")), OutputTokens: tokens(u.Get("completion_tokens")),
		CacheReadTokens: tokens(u.Get("prompt_tokens_details.cached_tokens")),
	}
	if cost := u.Get("cost"); cost.Type == gjson.Number { // OpenRouter has it
		r.usage.CostUSD = &cost.Num
	}
	r.usage = r.usage.Plausible()
	return r, nil
}
