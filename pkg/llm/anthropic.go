package llm

import (
	"context"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/pflow-suite/pflow/pkg/fault"
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
		form := decoded(q.schema.raw)
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
	answer, err := service.New(ctx, x.anthropicParams(q))
	if err != nil {
		return nil, err
	}
	if answer.StopReason == "" && len(answer.Content) == 0 {
		return nil, x.noAnswer(fault.New(fault.Protocol, "there is no content in it"))
	}
	r := &reply{stop: string(answer.StopReason)}
	for _, block := range answer.Content {
		if block.Type == "text" {
			r.text += block.Text
		}
	}
	switch answer.StopReason {
	case anthropic.StopReasonRefusal:
		r.end = declined
		if r.text == "" {
			r.text = answer.StopDetails.Explanation
		}
	case anthropic.StopReasonMaxTokens:
		r.end = cutOff
	case anthropic.StopReasonModelContextWindowExceeded:
		r.end = overfull
	}
	u := answer.Usage
	r.usage = nodetype.Usage{
		Model: answer.Model, OutputTokens: u.OutputTokens, CacheCreationTokens: u.CacheCreationInputTokens, CacheReadTokens: u.CacheReadInputTokens,
		InputTokens: u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens, // which the API counts apart
	}
	if r.usage.Model == "" {
		r.usage.Model = q.model
	}
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
