package llm

import (
	"context"
	"errors"
	"maps"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

func (x *exchange) openaiOptions() []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(x.at.base.String()), option.WithHTTPClient(x.client), option.WithMaxRetries(x.retries), option.WithMiddleware(x.middleware),
	}
	if x.at.key != "" { // a local server may need none
		options = append(options, option.WithAPIKey(x.at.key))
	}
	return options
}

// openaiParams returns a question as a request of the chat completions API.
func (x *exchange) openaiParams(q *question) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: q.model}
	extra := map[string]any{}
	maps.Copy(extra, x.thinkOpenAI(q, &p))
	maps.Copy(extra, q.options)
	if len(extra) > 0 {
		p.SetExtraFields(extra)
	}
	if key := x.cacheKey(q); key != "" {
		p.PromptCacheKey = openai.String(key)
	}
	if system := q.instructions(); system != "" {
		p.Messages = append(p.Messages, x.systemMessage(q, system))
	}
	for i, t := range q.turns {
		switch {
		case t.assistant:
			p.Messages = append(p.Messages, openai.AssistantMessage(t.text))
		case i == 0:
			p.Messages = append(p.Messages, x.firstMessage(q, t.text))
		default:
			p.Messages = append(p.Messages, openai.UserMessage(t.text))
		}
	}
	if q.temperature != nil {
		p.Temperature = openai.Float(*q.temperature)
	}
	switch {
	case q.maxTokens == 0:
	case x.at.own && x.at.provider == openaiName: // its reasoning models reject max_tokens
		p.MaxCompletionTokens = openai.Int(int64(q.maxTokens))
	default: // other servers often do not know the newer name
		p.MaxTokens = openai.Int(int64(q.maxTokens))
	}
	if q.schema != nil && !q.schemaInPrompt {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "answer", Schema: q.schema.Source(), Strict: openai.Bool(q.schema.Strict()),
		}}
	}
	return p
}

// firstMessage returns the prompt and the images as a message. Some servers know only text, and no list of parts.
func (x *exchange) firstMessage(q *question, text string) openai.ChatCompletionMessageParamUnion {
	if len(q.images) == 0 && !x.marksCache(q) {
		return openai.UserMessage(text)
	}
	var parts []openai.ChatCompletionContentPartUnionParam
	for _, image := range q.images {
		parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: image.dataURL()}))
	}
	prompt := openai.TextContentPart(text)
	if x.marksCache(q) {
		prompt.OfText.SetExtraFields(cacheMark())
	}
	return openai.UserMessage(append(parts, prompt))
}

func (x *exchange) askOpenAI(ctx context.Context, q *question) (*reply, error) {
	service := openai.NewChatCompletionService(x.openaiOptions()...)
	completion, err := service.New(ctx, x.openaiParams(q))
	if err != nil {
		return nil, err
	}
	return readReply(x, q, completion, openaiReply)
}

// openaiReply reads a completion. The client accepts any JSON as a completion, and ignores fields of other types.
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

func (x *exchange) openaiModels(ctx context.Context) []string {
	service := openai.NewModelService(append(x.openaiOptions(), option.WithMaxRetries(0))...)
	page, err := service.List(ctx)
	if err != nil || page == nil {
		return nil
	}
	var names []string
	for _, m := range page.Data {
		names = append(names, m.ID)
	}
	return names
}
