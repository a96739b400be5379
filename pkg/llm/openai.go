package llm

import (
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

func (x *exchange) openaiOptions() []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(x.at.base.String()), option.WithHTTPClient(x.client()), option.WithMaxRetries(x.retries), option.WithMiddleware(x.through),
	}
	if x.at.key != "" { // a local server may want none
		options = append(options, option.WithAPIKey(x.at.key))
	}
	return options
}

// openaiParams is a question in the words of chat completions.
func (x *exchange) openaiParams(q *question) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: q.model, ReasoningEffort: shared.ReasoningEffort(q.effort)}
	if system := q.instructions(); system != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(system))
	}
	for i, t := range q.turns {
		switch {
		case t.assistant:
			p.Messages = append(p.Messages, openai.AssistantMessage(t.text))
		case i == 0 && len(q.images) > 0:
			var parts []openai.ChatCompletionContentPartUnionParam
			for _, image := range q.images {
				parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: image.dataURL()}))
			}
			p.Messages = append(p.Messages, openai.UserMessage(append(parts, openai.TextContentPart(t.text))))
		default:
			p.Messages = append(p.Messages, openai.UserMessage(t.text))
		}
	}
	if q.temperature != nil {
		p.Temperature = openai.Float(*q.temperature)
	}
	switch {
	case q.maxTokens == 0:
	case x.at.own: // whose models that think refuse max_tokens
		p.MaxCompletionTokens = openai.Int(int64(q.maxTokens))
	default: // where the newer name is often not known
		p.MaxTokens = openai.Int(int64(q.maxTokens))
	}
	if q.schema != nil && !q.told {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "answer", Schema: q.schema.raw, Strict: openai.Bool(q.schema.strict()),
		}}
	}
	return p
}

func (x *exchange) askOpenAI(ctx context.Context, q *question) (*reply, error) {
	service := openai.NewChatCompletionService(x.openaiOptions()...)
	answer, err := service.New(ctx, x.openaiParams(q))
	if err != nil {
		return nil, err
	}
	if len(answer.Choices) == 0 {
		return nil, x.noAnswer(fault.New(fault.Protocol, "there are no choices in it"))
	}
	choice := answer.Choices[0]
	r := &reply{text: choice.Message.Content, stop: choice.FinishReason}
	switch {
	case choice.FinishReason == "content_filter":
		r.end = declined
	case choice.Message.Refusal != "":
		r.end, r.text, r.stop = declined, choice.Message.Refusal, "refusal"
	case choice.FinishReason == "length":
		r.end = cutOff
	}
	r.usage = nodetype.Usage{
		Model: answer.Model, InputTokens: answer.Usage.PromptTokens, OutputTokens: answer.Usage.CompletionTokens,
		CacheReadTokens: answer.Usage.PromptTokensDetails.CachedTokens,
	}
	if r.usage.Model == "" {
		r.usage.Model = q.model
	}
	if told := gjson.Get(answer.Usage.RawJSON(), "cost"); told.Type == gjson.Number { // OpenRouter's
		dollars := told.Float()
		r.usage.CostUSD = &dollars
	}
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
