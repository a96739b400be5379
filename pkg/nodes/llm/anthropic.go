package llm

import (
	"context"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

func (x *exchange) anthropicOptions(ctx context.Context) []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(x.at.base.String()), option.WithHTTPClient(x.client()), option.WithMaxRetries(x.retries), option.WithMiddleware(x.through),
		option.WithRequestTimeout(remaining(ctx)), // else the client refuses long answers
	}
	if x.at.key != "" {
		options = append(options, option.WithAPIKey(x.at.key))
	}
	return options
}

// defaultMaxTokens stands where the API wants a number.
const defaultMaxTokens = 8192

// anthropicParams is a question in the words of the messages API.
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
	if q.temperature != nil { // which here goes from 0 to 1
		p.Temperature = anthropic.Float(min(*q.temperature, 1))
	}
	if q.schema != nil && !q.told {
		form := q.schema.Document()
		plainTypes(form)
		if subset, ok := anthropic.BetaJSONSchemaOutputFormat(form).Schema.(map[string]any); ok && len(subset) > 0 {
			p.OutputConfig.Format.Schema = subset
		} else { // it cannot be said in what the API knows of JSON Schema
			q.told = true
		}
	}
	if system := q.instructions(); system != "" {
		p.System = []anthropic.TextBlockParam{{Text: system}}
	}
	q.think(&p)
	return p
}

// think asks for the effort. Newer models take a word for it and think as they see fit, older ones a number of tokens.
func (q *question) think(p *anthropic.MessageNewParams) {
	switch {
	case q.effort == "":
	case q.effort == "none":
		p.Thinking.OfDisabled = &anthropic.ThinkingConfigDisabledParam{}
	case !q.budgeted:
		p.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{}
		p.OutputConfig.Effort = anthropic.OutputConfigEffort(strings.Replace(q.effort, "minimal", "low", 1))
	default:
		budget := map[string]int64{"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384}[q.effort]
		if q.maxTokens == 0 {
			p.MaxTokens += budget // for thinking counts too
		}
		p.Thinking = anthropic.ThinkingConfigParamOfEnabled(min(budget, max(1024, p.MaxTokens/2)))
	}
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
	return understood(x, q, message, anthropicReply)
}

// anthropicReply reads a message. The client takes any JSON for one, and leaves out what does not fit.
func anthropicReply(message gjson.Result) (*reply, error) {
	content := message.Get("content")
	r := &reply{stop: message.Get("stop_reason").Str}
	switch {
	case !message.IsObject():
		return nil, errNoObject
	case !content.IsArray() || r.stop == "" && content.Get("#").Int() == 0:
		return nil, errors.New("there is no content in it")
	}
	for _, block := range content.Array() {
		text := block.Get("text")
		switch kind := block.Get("type"); {
		case !block.IsObject() || kind.Type != gjson.String:
			return nil, errors.New("there is something else than blocks in its content")
		case kind.Str != "text":
		case text.Type != gjson.String:
			return nil, errors.New("there is no text in a block of its content that is text")
		default:
			r.text += text.Str
		}
	}
	switch anthropic.StopReason(r.stop) {
	case anthropic.StopReasonRefusal:
		r.end = declined
		if r.text == "" {
			r.text = message.Get("stop_details.explanation").Str
		}
	case anthropic.StopReasonMaxTokens:
		r.end = cutOff
	case anthropic.StopReasonModelContextWindowExceeded:
		r.end = overfull
	}
	u := message.Get("usage")
	written, read := tokens(u.Get("cache_creation_input_tokens")), tokens(u.Get("cache_read_input_tokens"))
	r.usage = nodetype.Usage{
		Model: message.Get("model").Str, OutputTokens: tokens(u.Get("output_tokens")), CacheCreationTokens: written, CacheReadTokens: read,
		InputTokens: tokens(u.Get("input_tokens")) + written + read, // which the API counts apart
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
