package llm

import (
	"context"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

func (x *exchange) anthropicOptions(ctx context.Context) []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(x.at.base.String()), option.WithHTTPClient(x.client), option.WithMaxRetries(x.retries), option.WithMiddleware(x.middleware),
		option.WithRequestTimeout(remaining(ctx)), // without it the client refuses long answers
	}
	if x.at.key != "" {
		options = append(options, option.WithAPIKey(x.at.key))
	}
	return options
}

// defaultMaxTokens is the limit if the node has none: the API requires one.
const defaultMaxTokens = 8192

// anthropicParams returns a question as a request of the messages API.
func (x *exchange) anthropicParams(q *question) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: q.model, MaxTokens: int64(q.maxTokens)}
	if p.MaxTokens == 0 {
		p.MaxTokens = defaultMaxTokens
	}
	for i, t := range q.turns {
		blocks := []anthropic.ContentBlockParamUnion{}
		if i == 0 {
			for _, image := range q.images {
				blocks = append(blocks, imageBlock(image))
			}
		}
		blocks = append(blocks, anthropic.NewTextBlock(t.text))
		if t.assistant {
			p.Messages = append(p.Messages, anthropic.NewAssistantMessage(blocks...))
		} else {
			p.Messages = append(p.Messages, anthropic.NewUserMessage(blocks...))
		}
	}
	if q.temperature != nil { // at most 1 in this API
		p.Temperature = anthropic.Float(min(*q.temperature, 1))
	}
	if q.schema != nil && !q.schemaInPrompt {
		form := q.schema.Document()
		splitTypes(form)
		if subset, ok := anthropic.BetaJSONSchemaOutputFormat(form).Schema.(map[string]any); ok && len(subset) > 0 {
			p.OutputConfig.Format.Schema = subset
		} else { // the API's subset of JSON Schema cannot express it
			q.schemaInPrompt = true
		}
	}
	if system := q.instructions(); system != "" {
		p.System = []anthropic.TextBlockParam{{Text: system}}
	}
	q.think(&p)
	q.cache(&p)
	if len(q.options) > 0 {
		p.SetExtraFields(q.options)
	}
	return p
}

func imageBlock(i image) anthropic.ContentBlockParamUnion {
	if i.url != "" {
		return anthropic.NewImageBlock(anthropic.URLImageSourceParam{URL: i.url})
	}
	return anthropic.NewImageBlockBase64(i.mediaType, i.data)
}

func (x *exchange) askAnthropic(ctx context.Context, q *question) (*reply, error) {
	service := anthropic.NewMessageService(x.anthropicOptions(ctx)...)
	message, err := service.New(ctx, x.anthropicParams(q))
	if err != nil {
		return nil, err
	}
	return readReply(x, q, message, anthropicReply)
}

// anthropicReply reads a message. The client accepts any JSON as a message, and ignores fields of other types.
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
	switch anthropic.StopReason(r.stop) {
	case anthropic.StopReasonRefusal:
		r.end = refused
		if r.text == "" {
			r.text = message.Get("stop_details.explanation").Str
		}
	case anthropic.StopReasonMaxTokens:
		r.end = cutOff
	case anthropic.StopReasonModelContextWindowExceeded:
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

func (x *exchange) anthropicModels(ctx context.Context) []string {
	service := anthropic.NewModelService(append(x.anthropicOptions(ctx), option.WithMaxRetries(0))...)
	page, err := service.List(ctx, anthropic.ModelListParams{Limit: anthropic.Int(100)})
	if err != nil || page == nil {
		return nil
	}
	var names []string
	for _, m := range page.Data {
		names = append(names, m.ID)
	}
	return names
}
