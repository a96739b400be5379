// Package llm asks a language model: through the OpenAI chat completions API, which most servers speak, or the Anthropic
// messages API.
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

// Asker asks models as a user has set them up. The zero value knows of no setting.
type Asker struct {
	// Getenv gives a variable of the environment, or nothing.
	Getenv func(name string) string
	// Settings are those of the home; the environment wins over them.
	Settings settings.Settings
	// Node is the id of the node that asks, for messages.
	Node string
	// Progress is told what is worth knowing before the answer is there.
	Progress func(message string)
}

// Ask asks one question. All that can be wrong with the parameters alone is found before anything is sent. An error is a
// fault, or the cause for which ctx was cancelled; the outputs beside it tell what was used up to then, or are nil.
func (a *Asker) Ask(ctx context.Context, p nodetype.LLM) (*nodetype.LLMOutputs, error) {
	q, api, err := a.question(&p)
	if err != nil {
		return nil, err
	}
	limit := p.Timeout.Duration()
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := a.converse(within, q, api)
	if err == nil {
		return out, nil
	}
	switch {
	case ctx.Err() != nil:
		return out, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		f := fault.New(fault.Timeout, "%s did not answer within %g seconds", api.at.host(), float64(p.Timeout)).
			Suggest(`Give the node a longer "timeout" (in seconds), or ask for less: a shorter answer (max_tokens), less reasoning_effort`)
		f.Retryable = true
		err = f
	}
	if out.LLMUsage == nil { // nothing came back
		out = nil
	}
	return out, api.at.hide(fault.From(err))
}

// question checks the parameters and makes the first request of them.
func (a *Asker) question(p *nodetype.LLM) (*question, *exchange, error) {
	switch {
	case strings.TrimSpace(p.Prompt) == "":
		return nil, nil, fault.New(fault.Execution, "The prompt is empty").Suggest("Give the question as prompt")
	case p.Temperature != nil && !(*p.Temperature >= 0 && *p.Temperature <= 2):
		return nil, nil, fault.New(fault.Execution, "temperature must be from 0 to 2, not %g", *p.Temperature)
	case p.MaxTokens < 0:
		return nil, nil, fault.New(fault.Execution, "max_tokens must be more than 0, not %d", p.MaxTokens)
	case p.Retries < 0:
		return nil, nil, fault.New(fault.Execution, "retries must be 0 or more, not %d", p.Retries)
	case !(p.Timeout > 0) || math.IsInf(float64(p.Timeout), 0):
		return nil, nil, fault.New(fault.Execution, nodetype.NoTime)
	}
	at, err := a.endpoint(p)
	if err != nil {
		return nil, nil, err
	}
	q := &question{
		model: at.model, system: p.System, turns: []turn{{text: p.Prompt}}, temperature: p.Temperature,
		maxTokens: p.MaxTokens, effort: p.ReasoningEffort,
	}
	schema, f := jsonschema.ParseObjectOutput(p.OutputSchema)
	if f != nil {
		return nil, nil, f
	}
	q.schema = schema
	if q.images, err = readImages(p.Images); err != nil {
		return nil, nil, err
	}
	return q, &exchange{at: at, retries: p.Retries, progress: a.tell}, nil
}

func (a *Asker) tell(message string) {
	if a.Progress != nil {
		a.Progress(message)
	}
}

// converse asks until there is an answer that can be used: with a schema once more when an answer does not fit.
func (a *Asker) converse(ctx context.Context, q *question, x *exchange) (*nodetype.LLMOutputs, error) {
	out := &nodetype.LLMOutputs{}
	for again := false; ; again = true {
		r, err := a.ask(ctx, q, x)
		if err != nil {
			return out, err
		}
		a.add(out, q, r)
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
			return out, misfit(r.text, wrong)
		}
		a.tell("The answer does not fit output_schema: asking once more")
		q.correct(r.text, wrong)
	}
}

// ask asks one question, and again in another form when the API knows that it has one of the two only.
func (a *Asker) ask(ctx context.Context, q *question, x *exchange) (*reply, error) {
	for {
		r, err := x.send(ctx, q)
		refused, ok := errors.AsType[*refusal](err)
		if !ok {
			return r, err
		}
		switch {
		case q.schema != nil && !q.told && refused.mentions("response_format", "json_schema", "output_config", "output_format", "output format", "structured output", "schema"):
			q.told = true
			a.tell("The API takes no schema for this model: the prompt tells it instead")
		case q.effort != "" && !q.budgeted && x.at.provider == anthropicName && refused.mentions("adaptive", "effort"):
			q.budgeted = true
		default:
			return r, refused.fault
		}
	}
}

// add puts what a reply tells besides its text into the outputs.
func (a *Asker) add(out *nodetype.LLMOutputs, q *question, r *reply) {
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

// remaining is how long a context still lasts.
func remaining(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return time.Until(deadline)
	}
	return math.MaxInt64
}
