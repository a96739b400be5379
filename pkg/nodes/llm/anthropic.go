package llm

import (
	"errors"
	"maps"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// anthropicVersion is the version of the messages API.
const anthropicVersion = "2023-06-01"

// defaultMaxTokens is the limit if the node has none: the API requires one.
const defaultMaxTokens = 8192

// anthropicRequest returns a question as a request of the messages API.
func (*exchange) anthropicRequest(q *question) object {
	var messages []object
	for i, t := range q.turns {
		role, content := "user", []object{textPart(t.text, q.cached && i == 0)}
		if t.assistant {
			role = "assistant"
		}
		if i == 0 {
			content = append(imageBlocks(q.images), content...)
		}
		messages = append(messages, object{"role": role, "content": content})
	}
	body := object{"model": q.model, "messages": messages}
	if q.temperature != nil { // at most 1 in this API
		body["temperature"] = min(*q.temperature, 1)
	}
	output := object{}
	if q.schema != nil && !q.schemaInPrompt {
		form := q.schema.Document()
		splitTypes(form)
		output["format"] = object{"type": "json_schema", "schema": subset(form)}
	}
	if system := q.instructions(); system != "" {
		body["system"] = []object{textPart(system, q.cached)}
	}
	q.thinkAnthropic(body, output)
	if len(output) > 0 {
		body["output_config"] = output
	}
	maps.Copy(body, q.options)
	return body
}

func imageBlocks(images []image) (blocks []object) {
	for _, i := range images {
		source := object{"type": "base64", "media_type": i.mediaType, "data": i.data}
		if i.url != "" {
			source = object{"type": "url", "url": i.url}
		}
		blocks = append(blocks, object{"type": "image", "source": source})
	}
	return blocks
}

// anthropicReply reads a message. Fields of other types than the API has are ignored.
func anthropicReply(message gjson.Result) (*reply, error) {
	content := message.Get("content")
	r := &reply{stop: message.Get("stop_reason").Str}
	switch {
	case !message.IsObject():
		return nil, errNotObject
	case !content.IsArray() || r.stop == "" && content.Get("#").Int() == 0:
		return nil, errors.New("it has no content")
	}
	for _, block := range content.Array() {
		text := block.Get("text")
		switch kind := block.Get("type"); {
		case !block.IsObject() || kind.Type != gjson.String:
			return nil, errors.New("its content has an item that is not a block")
		case kind.Str != "text":
		case text.Type != gjson.String:
			return nil, errors.New("its content has a text block without text")
		default:
			r.text += text.Str
		}
	}
	switch r.stop {
	case "refusal":
		r.end = refused
		if r.text == "" {
			r.text = message.Get("stop_details.explanation").Str
		}
	case "max_tokens":
		r.end = cutOff
	case "model_context_window_exceeded":
		r.end = contextFull
	}
	u := message.Get("usage")
	written, read := tokens(u.Get("cache_creation_input_tokens")), tokens(u.Get("cache_read_input_tokens"))
	r.usage = nodetype.Usage{
		Model: message.Get("model").Str, OutputTokens: tokens(u.Get("output_tokens")), CacheCreationTokens: written, CacheReadTokens: read,
		InputTokens: tokens(u.Get("input_tokens")) + written + read, // the API counts them separately
	}
	r.usage = r.usage.Plausible()
	return r, nil
}
