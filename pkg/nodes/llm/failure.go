package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// refusal is a request that the API refused for what it asks. Another form of the same question may pass.
type refusal struct {
	fault *fault.Fault
	said  string
}

func (r *refusal) Error() string { return r.fault.Message }
func (r *refusal) Unwrap() error { return r.fault }

// mentions says whether the API's message has one of the words.
func (r *refusal) mentions(words ...string) bool {
	said := strings.ToLower(r.said)
	for _, w := range words {
		if strings.Contains(said, w) {
			return true
		}
	}
	return false
}

// quotaUsedUp is the code of a failure with status 429 that no waiting mends.
const quotaUsedUp = "insufficient_quota"

// code is the error's code, in OpenAI's words.
func (f *failure) code() string { return gjson.GetBytes(f.body, "error.code").String() }

// message is what the API says, wherever servers put that.
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

// isPage says whether the error is a page for people, as something else than the API answers with.
func (f *failure) isPage() bool {
	return strings.Contains(f.header.Get("Content-Type"), "html") || strings.HasPrefix(strings.TrimSpace(string(f.body)), "<")
}

// refusal makes a fault of an attempt that failed.
func (x *exchange) refusal(ctx context.Context, q *question, failed *failure) error {
	if failed.err != nil {
		return x.unreachable(failed.err)
	}
	f, said := x.statusFault(ctx, q, failed), failed.message()
	f.Detail("status", failed.status)
	if id := failed.header.Get("X-Request-Id") + failed.header.Get("Request-Id"); id != "" {
		f.Detail("request_id", id)
	}
	if failed.status == http.StatusBadRequest || failed.status == http.StatusUnprocessableEntity {
		return &refusal{fault: f, said: said}
	}
	return f
}

// statusFault is the fault for an HTTP status.
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
			return x.withheld(with(fault.Execution, "wants a key"))
		}
		if x.at.key == "" {
			return with(fault.Execution, "wants a key").Suggest("Set %s in the environment or in the env of settings.json, or give api_key", x.at.keyFrom)
		}
		return with(fault.Execution, "does not accept the key").
			Suggest("Check the key: it came from %s. It must be one for %s, and may use model %q", x.at.keyFrom, x.at.host(), x.at.model)
	case http.StatusPaymentRequired:
		return with(fault.Execution, "wants to be paid first").Suggest("Add credit to the account that the key belongs to")
	case http.StatusNotFound:
		return x.notFound(ctx, q, failed, with)
	case http.StatusRequestEntityTooLarge:
		return tooLong(with(fault.TooLarge, "takes no request of this size"))
	case http.StatusTooManyRequests:
		if failed.code() == quotaUsedUp {
			return with(fault.RateLimited, "says that the quota is used up").Suggest("Add credit to the account that the key belongs to, or use another key")
		}
		f := with(fault.RateLimited, "is asked too often").Suggest("Run the node again later, ask less at the same time (--jobs), or give the node more retries")
		if wait := retryAfter(failed.header); wait > 0 {
			f.Detail("retry_after_s", wait.Round(time.Second).Seconds())
		}
		f.Retryable = true
		return f
	}
	if retryable(failed.status) {
		f := with(fault.Unavailable, "failed").Suggest("Run the node again later")
		switch {
		case x.at.withheld != "":
			_ = x.withheld(f)
		case x.at.key == "":
			f.Suggest("No key was sent. If the server wants one, set %s or give api_key", x.at.keyFrom)
		}
		f.Retryable = true
		return f
	}
	if unknownModel(failed) {
		return x.notFound(ctx, q, failed, with)
	}
	if tooMuch(failed) {
		return tooLong(with(fault.TooLarge, "says that the question is longer than model \""+q.model+"\" can take"))
	}
	return with(fault.Execution, "refused the request").Suggest("Correct the parameter that the message is about: the API checks them for the model %q", q.model)
}

// withheld says why the key that there is was not sent.
func (x *exchange) withheld(f *fault.Fault) *fault.Fault {
	return f.Suggest("Give the key of %s in api_key. %s was not sent: base_url of a workflow names a server that is neither the provider's own nor that of %s", x.at.host(), x.at.withheld, x.at.urlVar).
		Suggest("If this server may have that key, set %s to its address in the environment or in the env of settings.json", x.at.urlVar)
}

// tooMuch says whether the API complains of the length of the prompt, in the words of one of the servers.
func tooMuch(failed *failure) bool {
	if failed.code() == "context_length_exceeded" || gjson.GetBytes(failed.body, "error.type").Str == "exceed_context_size_error" {
		return true
	}
	said := strings.ToLower(failed.message())
	for _, words := range []string{"context length", "context window", "prompt is too long", "context size", "exceed_context"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// unknownModel says whether the API complains of the model's name, which some do with status 400.
func unknownModel(failed *failure) bool {
	if failed.code() == "model_not_found" {
		return true
	}
	said := strings.ToLower(failed.message())
	for _, words := range []string{"invalid model", "unknown model", "model not found", "no such model"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// notFound is the fault of a model, or of an API, that is not there.
func (x *exchange) notFound(ctx context.Context, q *question, failed *failure, with func(fault.Type, string) *fault.Fault) *fault.Fault {
	said := strings.ToLower(failed.message())
	if failed.isPage() || !strings.Contains(said, "model") && !x.at.own && !unknownModel(failed) {
		return with(fault.Execution, "has no "+x.at.provider+" API at this address").
			Suggest("Correct base_url: requests went to %s%s. For OpenAI's API it usually ends in /v1", x.at.shown(), x.at.path)
	}
	f := with(fault.Execution, "does not know the model \""+q.model+"\"")
	known := x.models(ctx)
	if near, ok := fault.Nearest(q.model, known); ok {
		f.Suggest("Did you mean %q?", near)
	}
	if len(known) > maxModels {
		known = known[:maxModels]
	}
	f.Available = known
	return f.Suggest("Give the node another model")
}

// maxModels is how many of the models that there are a fault lists.
const maxModels = 40

// models are those that the API lists; none when it does not tell.
func (x *exchange) models(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if x.at.provider == anthropicName {
		return x.anthropicModels(ctx)
	}
	return x.openaiModels(ctx)
}

// unreachable is the fault of a request that brought no response.
func (x *exchange) unreachable(err error) error {
	f := fault.New(fault.Unavailable, "Cannot reach the %s API at %s: %s", x.at.provider, x.at.host(), reason(err))
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	dns, unknown := errors.AsType[*net.DNSError](err)
	switch {
	case certificate:
		return f.Suggest("Its certificate is not trusted: check base_url, or name the authority's certificate in SSL_CERT_FILE")
	case unknown && dns.IsNotFound:
		return f.Suggest("Check base_url (%s), and that there is a network", x.at.shown())
	}
	f.Retryable = true
	return f.Suggest("Check that the service is running and that base_url is right: %s", x.at.shown())
}

// reason is why a request failed, without the URL before it, which may carry a password.
func reason(err error) string {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return fault.Truncate(firstLine(err.Error()), maxShown)
}
