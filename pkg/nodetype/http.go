package nodetype

import (
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// HTTP is the http node: one request.
type HTTP struct {
	URL            string                     `json:"url" required:"" help:"the URL, http or https"`
	Method         string                     `json:"method" help:"the method; by default GET, or POST if there is a body"`
	Body           json.RawMessage            `json:"body" help:"text is sent as it is, any other value as JSON"`
	Headers        Texts                      `json:"headers" help:"request headers"`
	Params         map[string]json.RawMessage `json:"params" help:"query parameters; a list repeats the parameter"`
	Timeout        Seconds                    `json:"timeout" help:"how long the whole exchange may take, including redirects and retries; by default it may take any time, but not 30 seconds without progress"`
	AuthToken      string                     `json:"auth_token" help:"a token, sent as Authorization: Bearer …; it is not sent to another host after a redirect"`
	APIKey         string                     `json:"api_key" help:"a key, sent in the header api_key_header; not together with auth_token"`
	APIKeyHeader   string                     `json:"api_key_header" default:"\"X-API-Key\"" help:"the header for api_key"`
	IdempotencyKey bool                       `json:"idempotency_key" default:"false" help:"whether to send PFLOW_NODE_KEY in the header Idempotency-Key, unless headers has it: the server recognizes a repetition by it, after a retry or a resume"`
	OutputFile     string                     `json:"output_file" help:"the file for the body of a successful response, relative to the run's working directory; response is then null, and the file appears only when it is complete"`
	MaxSize        int                        `json:"max_size" help:"the maximum size of the uncompressed body in bytes; by default 67108864, or no limit with output_file"`
	MaxRedirects   int                        `json:"max_redirects" default:"10" help:"the maximum number of redirects to follow; with 0 a redirect is a success, and response_headers.location is its target"`
	Retries        int                        `json:"retries" default:"2" help:"the maximum number of retries: after a failed connection if repeating the request is safe, and after 429 and 503, with the delay in Retry-After"`
	Proxy          string                     `json:"proxy" help:"the URL of a proxy (http, https, socks5), or none; by default HTTP_PROXY, HTTPS_PROXY and NO_PROXY apply"`
	VerifyTLS      bool                       `json:"verify_tls" default:"true" help:"whether to verify the server's certificate"`
	CAFile         string                     `json:"ca_file" help:"a PEM file of certificate authorities to trust, in addition to the system's"`
	ClientCert     string                     `json:"client_cert" help:"a PEM file with the client certificate"`
	ClientKey      string                     `json:"client_key" help:"a PEM file with the key of the client certificate; by default the same file"`
}

// HTTPOutputs are the outputs of an http node that got a response.
type HTTPOutputs struct {
	Response         json.RawMessage   `json:"response" help:"the body: parsed if it is JSON, base64 if it is not text; null if it is in a file or incomplete"`
	ResponseIsBinary bool              `json:"response_is_binary" help:"whether response is base64"`
	StatusCode       int               `json:"status_code" help:"the HTTP status, such as 200"`
	ResponseHeaders  map[string]string `json:"response_headers" help:"response headers, with names in lower case"`
	ResponseTime     float64           `json:"response_time" help:"duration of the exchange in seconds"`
	URL              string            `json:"url" help:"the URL of the response, after redirects"`
	FilePath         string            `json:"file_path" help:"the file with the body; empty without output_file"`
	Size             int64             `json:"size" help:"size of the uncompressed body in bytes"`
	Error            string            `json:"error,omitempty" help:"why the node failed; absent if it did not"`
}

// HTTPFailure are the outputs of an http node that got no response.
type HTTPFailure struct {
	Error string `json:"error"`
}

// JSON returns the outputs with a response, which is a value of the event stream. It may be long, so it is copied only once.
func (o *HTTPOutputs) JSON(response json.RawMessage) json.RawMessage {
	rest := *o
	rest.Response = nil
	short, err := rawjson.Marshal(&rest)
	if err != nil || response == nil {
		return short
	}
	return slices.Concat([]byte(`{"response":`), response, short[len(`{"response":null`):])
}

func describeHTTP() Type {
	return describe("http", "Make an HTTP request; a status outside 200 to 299 is a failure", HTTP{}, HTTPOutputs{})
}
