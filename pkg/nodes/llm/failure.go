package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// rejection is the error of a request that the API rejected for its content. Another form of the same question may be accepted.
type rejection struct {
	fault   *fault.Fault
	message string // of the API
}

func (r *rejection) Error() string { return r.fault.Message }
func (r *rejection) Unwrap() error { return r.fault }

// mentions reports whether the API's message has one of the words.
func (r *rejection) mentions(words ...string) bool { return hasAny(r.message, words) }

// hasAny reports whether a text has one of the words, which are in lower case.
func hasAny(text string, words []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// quotaUsedUp is the code of a failure with status 429 for which waiting does not help.
const quotaUsedUp = "insufficient_quota"

// code returns the error code in the form of OpenAI's API, or "".
func (f *failure) code() string { return gjson.GetBytes(f.body, "error.code").String() }

// message returns the error message of the API, from the places where servers put it.
func (f *failure) message() string {
	for _, path := range []string{"error.message", "error", "message", "detail.0.msg", "detail"} {
		if v := gjson.GetBytes(f.body, path); v.Type == gjson.String && v.Str != "" {
			return fault.Truncate(v.Str, 1000)
		}
	}
	if f.isPage() {
		return ""
	}
	return fault.Truncate(strings.Join(strings.Fields(strings.ToValidUTF8(string(f.body), "?")), " "), maxShown)
}

// isPage reports whether the body is an HTML page, so it is not from the API.
func (f *failure) isPage() bool {
	return strings.Contains(f.header.Get("Content-Type"), "html") || strings.HasPrefix(strings.TrimSpace(string(f.body)), "<")
}

// failedError returns the error for an attempt that failed: a *rejection or a *fault.Fault.
func (x *exchange) failedError(ctx context.Context, q *question, failed *failure) error {
	if failed.err != nil {
		return x.unreachable(failed.err)
	}
	f := x.statusFault(ctx, q, failed)
	f.Detail("status", failed.status)
	if id := failed.header.Get("X-Request-Id") + failed.header.Get("Request-Id"); id != "" {
		f.Detail("request_id", id)
	}
	if failed.status == http.StatusBadRequest || failed.status == http.StatusUnprocessableEntity {
		return &rejection{fault: f, message: failed.message()}
	}
	return f
}

// statusFault returns the fault for an HTTP status.
func (x *exchange) statusFault(ctx context.Context, q *question, failed *failure) *fault.Fault {
	with := func(t fault.Type, what string) *fault.Fault {
		f := fault.New(t, "%s %s (HTTP %d)", x.at.host(), what, failed.status)
		if said := failed.message(); said != "" {
			f.Message += ": " + said
		}
		return f
	}
	switch failed.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		if x.at.withheld != "" {
			return x.suggestKey(with(fault.Execution, "requires a key"))
		}
		if x.at.key == "" {
			return with(fault.Execution, "requires a key").Suggest("%s", x.at.missingKey())
		}
		return with(fault.Execution, "does not accept the key").
			Suggest("Check the key from %s: it must be valid for %s and for the model %q", x.at.keyFrom, x.at.host(), x.at.model)
	case http.StatusPaymentRequired:
		return with(fault.Execution, "requires payment").Suggest("Add credit to the account of the key")
	case http.StatusNotFound:
		return x.notFound(ctx, q, failed, with)
	case http.StatusRequestEntityTooLarge:
		return suggestShorter(with(fault.TooLarge, "does not accept a request of this size"))
	case http.StatusTooManyRequests:
		if failed.code() == quotaUsedUp {
			return with(fault.RateLimited, "reports that the quota is used up").Suggest("Add credit to the account of the key, or use another key")
		}
		f := with(fault.RateLimited, "reports too many requests").Suggest("Run the node again later, run fewer nodes at a time (--jobs), or increase its retries")
		wait, _ := retryAfter(failed.header)
		if s := wait.Round(time.Second).Seconds(); s > 0 {
			f.Detail("retry_after_s", s)
		}
		f.Retryable = true
		return f
	}
	if retryable(failed.status) {
		f := with(fault.Unavailable, "failed").Suggest("Run the node again later")
		switch {
		case x.at.withheld != "":
			_ = x.suggestKey(f)
		case x.at.key == "":
			f.Suggest("No key was sent. If the server requires one: %s", x.at.missingKey())
		}
		f.Retryable = true
		return f
	}
	if unknownModel(failed) {
		return x.notFound(ctx, q, failed, with)
	}
	if promptTooLong(failed) {
		return suggestShorter(with(fault.TooLarge, "reports that the prompt exceeds the limit of model \""+q.model+"\""))
	}
	return with(fault.Execution, "rejected the request").Suggest("Correct the parameter that the message names; the API checks parameters for the model %q", q.model)
}

// suggestKey adds why a key was not sent, and what to do.
func (x *exchange) suggestKey(f *fault.Fault) *fault.Fault {
	return f.Suggest("Set api_key to the key for %s. %s was not sent, because base_url names a server other than the provider's own and %s", x.at.host(), x.at.withheld, x.at.urlVar).
		Suggest("If this server may have that key, set %s to its URL in the environment or in env of settings.json", x.at.urlVar)
}

// promptTooLong reports whether the API rejects the length of the prompt, in the words of one of the servers.
func promptTooLong(failed *failure) bool {
	if failed.code() == "context_length_exceeded" || gjson.GetBytes(failed.body, "error.type").Str == "exceed_context_size_error" {
		return true
	}
	return hasAny(failed.message(), []string{"context length", "context window", "prompt is too long", "context size", "exceed_context"})
}

// unknownModel reports whether the API does not know the model. Some APIs report that with status 400.
func unknownModel(failed *failure) bool {
	return failed.code() == "model_not_found" ||
		hasAny(failed.message(), []string{"invalid model", "unknown model", "model not found", "no such model"})
}

// notFound returns the fault for a model or an API that does not exist.
func (x *exchange) notFound(ctx context.Context, q *question, failed *failure, with func(fault.Type, string) *fault.Fault) *fault.Fault {
	if failed.isPage() || !hasAny(failed.message(), []string{"model"}) && !x.at.own && !unknownModel(failed) {
		return with(fault.Execution, "has no "+x.at.api+" API at this URL").
			Suggest("Correct base_url: the request went to %s%s. For OpenAI's API it usually ends in /v1", x.at.url(), pathOf(x.at.api))
	}
	f := with(fault.Execution, "does not know the model \""+q.model+"\"")
	known := x.models(ctx)
	if near, ok := fault.Nearest(q.model, known); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return f.Offer(q.model, known).Suggest("Set model to another model")
}

// models returns the models that the API lists, or nil.
func (x *exchange) models(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list, err := x.attempt(ctx, http.MethodGet, modelsPath(x.at.api), nil)
	if err != nil {
		return nil
	}
	var names []string
	for _, id := range gjson.GetBytes(list, "data.#.id").Array() {
		names = append(names, id.String())
	}
	return names
}

// unreachable returns the fault for a request without a response.
func (x *exchange) unreachable(err error) error {
	f := fault.New(fault.Unavailable, "Cannot reach the %s API at %s: %s", x.at.provider, x.at.host(), reason(err))
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	dns, unknown := errors.AsType[*net.DNSError](err)
	switch {
	case certificate:
		return f.Suggest("The certificate is not trusted: check base_url, or set SSL_CERT_FILE to the certificate of the authority")
	case unknown && dns.IsNotFound:
		return f.Suggest("Check base_url (%s) and the network connection", x.at.url())
	}
	f.Retryable = true
	return f.Suggest("Check that the service is running and that base_url is correct: %s", x.at.url())
}

// reason returns why a request failed, without its URL, which may have a password.
func reason(err error) string {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return fault.Truncate(firstLine(err.Error()), maxShown)
}
