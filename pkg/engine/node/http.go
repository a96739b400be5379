package node

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// runHTTP makes one request. It goes where it is redirected to, and is made again where that can do no harm.
func runHTTP(ctx context.Context, p *Call, t *Task) *Result {
	in, f := decode[nodetype.HTTP](p)
	if f != nil {
		return failed(f, nil)
	}
	limit := in.Timeout.Duration()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &TimeoutError{limit})
	defer cancel()
	x, f := newExchange(ctx, &in, t)
	if f != nil {
		return failed(f, nodetype.HTTPFailure{Error: f.Message})
	}
	defer x.close()
	return x.run(ctx)
}

// exchange is the work of one node: a request, and all that comes of it.
type exchange struct {
	in   *nodetype.HTTP
	task *Task
	// client sends.
	client *http.Transport
	// credentials are what the node's files for TLS hold.
	credentials credentials
	// call is the request as it is sent now: another one after a redirect.
	call outgoing
	// target is the file that takes the body, or empty.
	target string
	began  time.Time
	// chain is where the request went, without passwords, from the first place to this one.
	chain []string
	// attempts counts how often the node began or began again.
	attempts int
	// reached says that the last request may have come to the server.
	reached bool
	// answer is what is known of the last response; there is none while its status is 0.
	answer nodetype.HTTPOutputs
	// refused is what a 429 or 503 says of another attempt.
	refused *retryAfter
	// unkept is why the response could not be kept.
	unkept error
}

// newExchange makes what a node asks for ready to be sent.
func newExchange(ctx context.Context, in *nodetype.HTTP, t *Task) (x *exchange, f *fault.Fault) {
	x = &exchange{in: in, task: t, began: time.Now()}
	if f := bounds(in); f != nil {
		return nil, f
	}
	if x.call, f = newCall(in); f != nil {
		return nil, f
	}
	if in.OutputFile != "" {
		if x.target, f = target(t, in.OutputFile); f != nil {
			return nil, f
		}
	}
	if x.credentials, f = readCredentials(ctx, in, t); f != nil {
		if late := context.Cause(ctx); late != nil {
			f = x.broken(ctx, late)
		}
		return nil, f
	}
	x.client, f = transportFor(in, t, x.credentials, x.call.repeatable())
	return x, f
}

// bounds refuses numbers that mean nothing.
func bounds(in *nodetype.HTTP) *fault.Fault {
	if in.Timeout.Duration() <= 0 {
		return fault.New(fault.Execution, nodetype.NoTime).Suggest(`Give seconds, such as "timeout": 30, or leave it out for that`)
	}
	for name, n := range map[string]int{"max_size": in.MaxSize, "max_redirects": in.MaxRedirects, "retries": in.Retries} {
		if n < 0 {
			return fault.New(fault.Execution, "%s cannot be %d: it counts from 0", name, n).Suggest("Give a number that is not negative, or leave %s out for its default", name)
		}
	}
	return nil
}

// run sends the request until there is an answer that stands.
func (x *exchange) run(ctx context.Context) *Result {
	for {
		x.attempts++
		response, f := x.attempt(ctx)
		if x.unkept != nil {
			return &Result{StoreErr: x.unkept}
		}
		f, more := x.again(ctx, f)
		if more {
			continue
		}
		x.answer.ResponseTime = time.Since(x.began).Seconds()
		if f == nil {
			return &Result{Action: workflow.ActionDefault, Outputs: x.answer.JSON(response)}
		}
		f = x.counted(ctx, f)
		if x.answer.StatusCode == 0 {
			return failed(f, nodetype.HTTPFailure{Error: f.Message})
		}
		x.answer.Error = f.Message
		return &Result{Action: workflow.ActionError, Fault: f, Outputs: x.answer.JSON(response)}
	}
}

// attempt sends the request, follows redirects and takes the answer. After a redirect the next attempt begins there: what
// led to it has been done.
func (x *exchange) attempt(ctx context.Context) (json.RawMessage, *fault.Fault) {
	for {
		resp, f := x.send(ctx)
		if f != nil {
			return nil, f
		}
		followed, f := x.follow(resp)
		if f != nil || followed {
			discard(resp)
		}
		if followed && x.call.strayed {
			f = x.withoutCertificate()
		}
		if f != nil {
			return nil, f
		}
		if !followed {
			return x.receive(ctx, resp)
		}
	}
}

// note keeps what is known of a response before its body is read.
func (x *exchange) note(resp *http.Response) {
	from := x.call.written
	if bare := *x.call.url; bare.User != nil {
		bare.User = nil
		from = bare.String()
	}
	x.answer = nodetype.HTTPOutputs{StatusCode: resp.StatusCode, ResponseHeaders: make(map[string]string, len(resp.Header)), URL: from}
	for k, v := range resp.Header {
		x.answer.ResponseHeaders[strings.ToLower(k)] = strings.Join(v, ", ")
	}
}
