// Package llm asks a language model, through the OpenAI chat completions API, which most servers have, or the Anthropic messages
// API.
package llm

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// Asker asks models with the settings of a user. The zero value has no settings.
type Asker struct {
	// Getenv returns an environment variable, or "". It may be nil.
	Getenv func(name string) string
	// Settings are the settings of the home. The environment takes precedence.
	Settings settings.Settings
	// Node is the id of the node, for messages.
	Node string
	// Progress is called with messages such as that a request is retried. It may be nil.
	Progress func(message string)
}

// Ask asks one question. It checks all parameters before it sends anything. The error is a *fault.Fault, or the cause for which
// ctx was cancelled. The outputs with an error have the usage until then, or are nil.
func (a *Asker) Ask(ctx context.Context, p nodetype.LLM) (*nodetype.LLMOutputs, error) {
	q, x, err := a.prepare(&p)
	if err != nil {
		return nil, err
	}
	limit := p.Timeout.Duration()
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := a.converse(timed, q, x)
	if err == nil {
		return out, nil
	}
	switch {
	case ctx.Err() != nil:
		return out, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		f := fault.New(fault.Timeout, "%s did not answer within %g seconds", x.at.host(), float64(p.Timeout)).
			Suggest(`Give the node a longer "timeout" (in seconds), or reduce max_tokens or reasoning_effort`)
		f.Retryable = true
		err = f
	}
	if out.LLMUsage == nil { // there was no reply
		out = nil
	}
	return out, x.at.redacted(fault.From(err))
}

// prepare checks the parameters and returns the first question.
func (a *Asker) prepare(p *nodetype.LLM) (*question, *exchange, error) {
	switch {
	case strings.TrimSpace(p.Prompt) == "":
		return nil, nil, fault.New(fault.Execution, "The prompt is empty").Suggest("Set prompt to the question")
	case p.Temperature != nil && !(*p.Temperature >= 0 && *p.Temperature <= 2):
		return nil, nil, fault.New(fault.Execution, "temperature must be from 0 to 2, not %g", *p.Temperature)
	case p.MaxTokens < 0:
		return nil, nil, fault.New(fault.Execution, "max_tokens must be at least 1, not %d", p.MaxTokens)
	case p.Retries < 0:
		return nil, nil, fault.New(fault.Execution, "retries must be at least 0, not %d", p.Retries)
	case !(p.Timeout > 0) || math.IsInf(float64(p.Timeout), 0):
		return nil, nil, fault.New(fault.Execution, nodetype.NoTime)
	}
	if f := checkThinking(p); f != nil {
		return nil, nil, f
	}
	if f := nodetype.LLMOptionsFault(p.ModelOptions, p.ReasoningEffort != "" || p.ReasoningMaxTokens > 0); f != nil {
		return nil, nil, f
	}
	at, err := a.endpoint(p)
	if err != nil {
		return nil, nil, err
	}
	q := &question{
		model: at.model, system: p.System, turns: []turn{{text: p.Prompt}}, temperature: p.Temperature,
		maxTokens: p.MaxTokens, effort: p.ReasoningEffort, thinking: p.ReasoningMaxTokens, cached: p.PromptCache,
	}
	if q.thinking > 0 && !at.limitsThinking() {
		return nil, nil, fault.New(fault.Execution, "The %s API has no limit for the tokens of thinking", at.provider).
			Suggest("Use reasoning_effort in place of reasoning_max_tokens").
			Suggest("Or set the field that this server has for it in model_options")
	}
	if len(p.ModelOptions) > 0 {
		q.options = map[string]any{}
		for name, value := range p.ModelOptions {
			q.options[name] = value
		}
	}
	schema, f := jsonschema.ParseObjectOutput(p.OutputSchema)
	if f != nil {
		return nil, nil, f
	}
	q.schema = schema
	if q.images, err = readImages(p.Images); err != nil {
		return nil, nil, err
	}
	return q, &exchange{at: at, client: newClient(), retries: p.Retries, progress: a.report}, nil
}

func (a *Asker) report(message string) {
	if a.Progress != nil {
		a.Progress(message)
	}
}

// converse asks the question. If there is a schema and the answer does not fit it, it asks once more.
func (a *Asker) converse(ctx context.Context, q *question, x *exchange) (*nodetype.LLMOutputs, error) {
	out := &nodetype.LLMOutputs{}
	for again := false; ; again = true {
		r, err := a.ask(ctx, q, x)
		if err != nil {
			return out, err
		}
		a.record(out, q, r)
		text := unfenced(r.text)
		if f := r.unusable(q); f != nil {
			out.Response = rawjson.Quote(text)
			return out, f
		}
		if q.schema == nil {
			out.Response = rawjson.Quote(text)
			return out, nil
		}
		value, wrong := valueIn(r.text, q.schema)
		if wrong == nil {
			out.Response = value
			return out, nil
		}
		out.Response = rawjson.Quote(text)
		if again {
			return out, schemaMismatch(r.text, wrong)
		}
		a.report("The answer does not fit output_schema: asking once more")
		q.correct(r.text, wrong)
	}
}

// ask sends a question. If the API rejects a feature, it sends the question in another form.
func (a *Asker) ask(ctx context.Context, q *question, x *exchange) (*reply, error) {
	for {
		r, err := x.send(ctx, q)
		rejected, ok := errors.AsType[*rejection](err)
		if !ok {
			return r, err
		}
		switch {
		case q.schema != nil && !q.schemaInPrompt && rejected.mentions("response_format", "json_schema", "output_config", "output_format", "output format", "structured output", "schema"):
			q.schemaInPrompt = true
			a.report("The API does not support schemas for this model: the prompt has the schema instead")
		case q.effort != "" && !q.effortAsBudget && x.at.api == anthropicName && rejected.mentions("adaptive", "effort"):
			q.effortAsBudget = true
		default:
			return r, rejected.fault
		}
	}
}

// record sets the outputs that a reply has in addition to its text, and adds up the usage of all replies.
func (a *Asker) record(out *nodetype.LLMOutputs, q *question, r *reply) {
	u := r.usage
	if u.CostUSD == nil {
		u.CostUSD = cost(a.Settings.LLM.Prices, &u, q.model, u.Model)
	}
	if before := out.LLMUsage; before != nil {
		u.InputTokens += before.InputTokens
		u.OutputTokens += before.OutputTokens
		u.CacheCreationTokens += before.CacheCreationTokens
		u.CacheReadTokens += before.CacheReadTokens
		if u.CostUSD != nil && before.CostUSD != nil {
			*u.CostUSD += *before.CostUSD
		} else {
			u.CostUSD = nil
		}
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	out.Model, out.StopReason, out.LLMUsage = u.Model, r.stop, &u
}

// remaining returns the time until the deadline of a context.
func remaining(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return time.Until(deadline)
	}
	return math.MaxInt64
}
