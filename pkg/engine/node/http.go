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

// runHTTP sends a request. It follows redirects, and sends the request again if that is safe.
func runHTTP(ctx context.Context, p *Call, t *Task) *Result {
	in, f := decode[nodetype.HTTP](p)
	if f != nil {
		return failed(f, nil)
	}
	ctx, cancel := within(ctx, in.Timeout)
	defer cancel()
	var watch *stallWatch
	if in.Timeout <= 0 && t.Timeout <= 0 {
		var end func()
		ctx, watch, end = watchStalls(ctx)
		defer end()
	}
	x, f := newExchange(ctx, &in, t)
	if f != nil {
		return failed(f, nodetype.HTTPFailure{Error: f.Message})
	}
	defer x.closeIdle()
	x.watch = watch
	return x.run(ctx)
}

// exchange is one attempt at an http node: its requests and what is known of their response.
type exchange struct {
	in   *nodetype.HTTP
	task *Task
	// client sends the requests.
	client *http.Transport
	// tls holds the contents of the files that the node names for TLS.
	tls tlsFiles
	// request is the request to send next. A redirect changes it.
	request outgoing
	// target is the path of the file that receives the body, or empty.
	target string
	start  time.Time
	// visited lists the URLs, without passwords, that have redirected the request.
	visited []string
	// attempts counts how often the request was sent, without redirects.
	attempts int
	// connected is set if the last request may have reached the server.
	connected bool
	// outputs describes the last response; its status is 0 if no response arrived.
	outputs nodetype.HTTPOutputs
	// retryAfter is what a 429 or 503 says about another attempt; nil for any other status.
	retryAfter *retryAfterHeader
	// watch ends the exchange when it makes no progress; nil if the node has a timeout.
	watch *stallWatch
	// storeErr is set if the response could not be stored.
	storeErr error
}

// newExchange checks the parameters of a node and prepares its request.
func newExchange(ctx context.Context, in *nodetype.HTTP, t *Task) (x *exchange, f *fault.Fault) {
	x = &exchange{in: in, task: t, start: time.Now()}
	if f := validateHTTP(in); f != nil {
		return nil, f
	}
	if x.request, f = newOutgoing(in, t.Key); f != nil {
		return nil, f
	}
	if in.OutputFile != "" {
		if x.target, f = outputFile(t, in.OutputFile); f != nil {
			return nil, f
		}
	}
	if x.tls, f = readTLSFiles(ctx, in, t); f != nil {
		if late := context.Cause(ctx); late != nil {
			f = x.noResponseFault(ctx, late)
		}
		return nil, f
	}
	x.client, f = transportFor(in, t, x.tls, x.request.idempotent())
	return x, f
}

// validateHTTP refuses numbers out of range.
func validateHTTP(in *nodetype.HTTP) *fault.Fault {
	for name, n := range map[string]int{"max_size": in.MaxSize, "max_redirects": in.MaxRedirects, "retries": in.Retries} {
		if n < 0 {
			return fault.New(fault.Execution, "%s must be at least 0, got %d", name, n).Suggest("Give a number from 0, or omit %s for its default", name)
		}
	}
	return nil
}

// run sends the request until there is a final response.
func (x *exchange) run(ctx context.Context) *Result {
	for {
		x.attempts++
		response, f := x.attempt(ctx)
		if x.storeErr != nil {
			return &Result{StoreErr: x.storeErr}
		}
		f, more := x.retry(ctx, f)
		if more {
			continue
		}
		x.outputs.ResponseTime = time.Since(x.start).Seconds()
		if f == nil {
			return &Result{Action: workflow.ActionDefault, Outputs: x.outputs.JSON(response)}
		}
		f = x.withAttempts(ctx, f)
		if x.outputs.StatusCode == 0 {
			return failed(f, nodetype.HTTPFailure{Error: f.Message})
		}
		x.outputs.Error = f.Message
		return &Result{Action: workflow.ActionError, Fault: f, Outputs: x.outputs.JSON(response)}
	}
}

// attempt sends the request, follows redirects and reads the response. After a redirect, the next attempt starts with the
// redirected request: the first one has been processed.
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
		if followed && x.request.leftOrigin {
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

// recordResponse sets the outputs that are known before the body is read.
func (x *exchange) recordResponse(resp *http.Response) {
	from := x.request.written
	if bare := *x.request.url; bare.User != nil {
		bare.User = nil
		from = bare.String()
	}
	x.outputs = nodetype.HTTPOutputs{StatusCode: resp.StatusCode, ResponseHeaders: make(map[string]string, len(resp.Header)), URL: from}
	for k, v := range resp.Header {
		x.outputs.ResponseHeaders[strings.ToLower(k)] = strings.Join(v, ", ")
	}
}
