package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/template"
)

// maxBody is the most bytes of a response that are read.
const maxBody = 64 << 20

// runHTTP makes one request.
func runHTTP(ctx context.Context, p *Prepared) *Result {
	in, f := decode[nodetype.HTTP](p)
	if f != nil {
		return failed(f, nil)
	}
	limit := in.Timeout.Duration()
	if limit <= 0 {
		return failed(fault.New(fault.Execution, "timeout must be more than 0 seconds"), nil)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &TimeoutError{limit})
	defer cancel()
	req, secret, f := request(ctx, in)
	if f != nil {
		return failed(f, nil)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}, CheckRedirect: careful(secret)}
	began := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return failed(exchangeFault(ctx, req.URL.Redacted(), err), nil)
	}
	defer func() { _ = resp.Body.Close() }()
	body, whole, err := readBody(resp.Body, maxBody)
	if err != nil {
		return failed(exchangeFault(ctx, req.URL.Redacted(), err), nil)
	}
	if !whole {
		return failed(fault.New(fault.TooLarge, "The response of %s is longer than %d MiB", req.URL.Redacted(), maxBody>>20).
			Suggest("Ask for less at once, or fetch it into a file with a shell node and pass its path on"), nil)
	}
	out := &nodetype.HTTPOutputs{StatusCode: resp.StatusCode, ResponseHeaders: map[string]string{}, ResponseTime: time.Since(began).Seconds()}
	for k, v := range resp.Header {
		out.ResponseHeaders[strings.ToLower(k)] = strings.Join(v, ", ")
	}
	out.Response, out.ResponseIsBinary = responseValue(resp.Header.Get("Content-Type"), body)
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return completed(out)
	}
	f = statusFault(req, resp, body)
	out.Error = f.Message
	return failed(f, out)
}

// request makes the request and names the headers that carry credentials.
func request(ctx context.Context, in nodetype.HTTP) (*http.Request, []string, *fault.Fault) {
	u, err := url.Parse(in.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		shown := in.URL
		if at := strings.LastIndexByte(shown, '@'); at >= 0 { // what stands before it may be a password
			shown = "…" + shown[at:]
		}
		return nil, nil, fault.New(fault.Execution, "%q is no http or https URL", shown).Suggest("Give a whole URL, such as https://example.org/path")
	}
	u.RawQuery = strings.Trim(u.RawQuery+"&"+query(in.Params), "&")
	var body io.Reader
	contentType := ""
	if len(in.Body) > 0 && string(in.Body) != "null" {
		body = strings.NewReader(template.AsText(in.Body))
		if in.Body[0] != '"' {
			contentType = "application/json"
		}
	}
	method := strings.ToUpper(in.Method)
	if method == "" {
		method = map[bool]string{true: http.MethodPost, false: http.MethodGet}[body != nil]
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, nil, fault.New(fault.Execution, "The request cannot be made: %v", err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for k, v := range in.Headers {
		req.Header.Set(k, v)
		if strings.EqualFold(k, "Host") { // Go sends it from elsewhere
			req.Host = v
		}
	}
	secret := []string{"Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", http.CanonicalHeaderKey(in.APIKeyHeader)}
	switch {
	case in.AuthToken != "" && in.APIKey != "":
		return nil, nil, fault.New(fault.Execution, "auth_token and api_key exclude each other").Suggest("Give one of them")
	case in.AuthToken != "":
		req.Header.Set("Authorization", "Bearer "+in.AuthToken)
	case in.APIKey != "":
		req.Header.Set(in.APIKeyHeader, in.APIKey)
	}
	return req, secret, nil
}

// query is parameters as a URL has them, sorted. A list gives its name once for each item; null gives none.
func query(params map[string]json.RawMessage) string {
	values := url.Values{}
	for name, value := range params {
		items := []json.RawMessage{value}
		if value[0] == '[' {
			_ = json.Unmarshal(value, &items) // it begins like a list, and is valid
		}
		for _, item := range items {
			if string(item) != "null" {
				values.Add(name, template.AsText(item))
			}
		}
	}
	return values.Encode()
}

// readBody reads a body of at most limit bytes; whole is false when there is more.
func readBody(r io.Reader, limit int) (body []byte, whole bool, err error) {
	body, err = io.ReadAll(io.LimitReader(r, int64(limit)+1))
	return body, len(body) <= limit, err
}

// careful follows up to ten redirects and drops credentials when one leads to another host.
func careful(secret []string) func(req *http.Request, via []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if len(via) >= 10 {
			return errRedirects
		}
		if req.URL.Host != via[0].URL.Host || req.URL.Scheme == "http" && via[0].URL.Scheme == "https" {
			for _, name := range secret {
				req.Header.Del(name)
			}
		}
		return nil
	}
}

// errRedirects is the error of a request that is sent on and on.
var errRedirects = errors.New("stopped after 10 redirects")

// responseValue is the body as an output: parsed JSON where its type says so, else text or bytes.
func responseValue(contentType string, body []byte) (json.RawMessage, bool) {
	kind, _, _ := mime.ParseMediaType(contentType)
	if (strings.HasSuffix(kind, "/json") || strings.HasSuffix(kind, "+json")) && utf8.Valid(body) && json.Valid(body) {
		return event.Escape(bytes.TrimSpace(body)), false
	}
	return event.String(body), !utf8.Valid(body)
}

// exchangeFault says why there is no response. where is the URL without its password.
func exchangeFault(ctx context.Context, where string, err error) *fault.Fault {
	if late, ok := errors.AsType[*TimeoutError](context.Cause(ctx)); ok {
		f := fault.New(fault.Timeout, "Request to %s timed out after %s seconds", where, seconds(late.After)).Suggest("Give the node a longer \"timeout\" (in seconds)")
		f.Retryable = true
		return f
	}
	if cause := context.Cause(ctx); cause != nil {
		return fault.From(cause)
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	if errors.Is(err, errRedirects) || strings.HasPrefix(err.Error(), "net/http: invalid") { // of a header, said before anything is sent
		return fault.New(fault.Execution, "Request to %s failed: %v", where, err).Suggest("Correct the request: its url and headers")
	}
	f := fault.New(fault.Unavailable, "Request to %s failed: %v", where, err).Suggest("Check the URL, and that the service is running")
	if oe, ok := errors.AsType[*net.OpError](err); ok && oe.Op == "dial" {
		f.Message = fmt.Sprintf("Could not connect to %s: %v", where, err)
	}
	f.Retryable = true
	return f
}

func statusFault(req *http.Request, resp *http.Response, body []byte) *fault.Fault {
	f := fault.New(fault.Execution, "HTTP %d", resp.StatusCode).Detail("status", resp.StatusCode)
	if text := http.StatusText(resp.StatusCode); text != "" {
		f.Message += " " + text
	}
	f.Message += fmt.Sprintf(" from %s %s", req.Method, req.URL.Redacted())
	if said := strings.TrimSpace(strings.ToValidUTF8(string(body[:min(len(body), 500)]), "\uFFFD")); said != "" {
		f.Message += ": " + said
	}
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		f.Type, f.Retryable = fault.RateLimited, true
	case slices.Contains([]int{502, 503, 504}, resp.StatusCode):
		f.Type, f.Retryable = fault.Unavailable, true
	case resp.StatusCode == 401 || resp.StatusCode == 403:
		f.Suggest("Check the credentials: auth_token, api_key or headers")
	}
	if len(f.Suggestions) == 0 {
		f.Suggest("Correct the request, or take this failure with an edge of action \"error\"")
	}
	return f
}
