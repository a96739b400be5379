package llm

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// exchange sends questions to an API.
type exchange struct {
	at       *endpoint
	client   *http.Client
	retries  int
	progress func(message string)
}

// object is a JSON object in a request.
type object = map[string]any

// send sends a question and returns the reply. The error is a *rejection if another form of the question may be accepted.
func (x *exchange) send(ctx context.Context, q *question) (*reply, error) {
	request, read := x.openaiRequest, openaiReply
	if x.at.api == anthropicName {
		request, read = x.anthropicRequest, anthropicReply
	}
	body, err := rawjson.Marshal(request(q))
	if err != nil {
		return nil, err
	}
	answer, err := x.post(ctx, body)
	switch failed, ok := errors.AsType[*failure](err); {
	case err == nil:
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case ok:
		return nil, x.failedError(ctx, q, failed)
	default:
		return nil, err
	}
	r, err := read(gjson.ParseBytes(answer))
	if err != nil {
		return nil, x.invalidResponse(err)
	}
	if r.usage.Model == "" {
		r.usage.Model = q.model
	}
	return r, nil
}

// invalidResponse returns the fault for a successful response that is not a completion.
func (x *exchange) invalidResponse(err error) *fault.Fault {
	return fault.New(fault.Protocol, "The response of %s is not a completion: %s", x.at.host(), fault.Truncate(firstLine(err.Error()), maxShown)).
		Suggest("Check that base_url (%s) is the URL of the %s API", x.at.url(), x.at.api)
}

// errNotObject is the error of a response that is JSON but not an object.
var errNotObject = errors.New("it is not a JSON object")

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
