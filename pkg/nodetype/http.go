package nodetype

import (
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// HTTP is the http node: one request.
type HTTP struct {
	URL          string                     `json:"url" required:"" help:"where to, http or https"`
	Method       string                     `json:"method" help:"GET by default, POST when there is a body"`
	Body         json.RawMessage            `json:"body" help:"text is sent as it is, any other value as JSON"`
	Headers      Texts                      `json:"headers" help:"request headers"`
	Params       map[string]json.RawMessage `json:"params" help:"query parameters; a list repeats its name"`
	Timeout      Seconds                    `json:"timeout" default:"30" help:"seconds for the whole exchange, with redirects and retries"`
	AuthToken    string                     `json:"auth_token" help:"sent as Authorization: Bearer …; credentials follow no redirect to another host"`
	APIKey       string                     `json:"api_key" help:"sent in the header that api_key_header names; not together with auth_token"`
	APIKeyHeader string                     `json:"api_key_header" default:"\"X-API-Key\"" help:"the header for api_key"`
	OutputFile   string                     `json:"output_file" help:"the file that takes the body of a success as it comes, relative to the run's working directory; it is there whole or not at all, and response is null"`
	MaxSize      int                        `json:"max_size" help:"the most bytes of the body, unpacked; 67108864 by default, without a limit into a file"`
	MaxRedirects int                        `json:"max_redirects" default:"10" help:"how many redirects are followed; with 0 the redirect is the response and a success: response_headers.location says where it leads"`
	Retries      int                        `json:"retries" default:"2" help:"how often the request is made again after a fault of the connection, where it can do no harm, and after 429 and 503, when Retry-After says"`
	Proxy        string                     `json:"proxy" help:"the proxy's URL (http, https, socks5), or none; by default what HTTP_PROXY, HTTPS_PROXY and NO_PROXY say"`
	VerifyTLS    bool                       `json:"verify_tls" default:"true" help:"false takes any certificate of the server"`
	CAFile       string                     `json:"ca_file" help:"certificates, in PEM, that the server's is trusted by, besides the system's"`
	ClientCert   string                     `json:"client_cert" help:"the file of the certificate to show to the server, in PEM"`
	ClientKey    string                     `json:"client_key" help:"the file of that certificate's key; by default it is in the same file"`
}

// HTTPOutputs is what an http node leaves behind that had an answer.
type HTTPOutputs struct {
	Response         json.RawMessage   `json:"response" help:"the body: parsed when it is JSON, base64 when it is not text; null when it is in a file or could not be had whole"`
	ResponseIsBinary bool              `json:"response_is_binary" help:"whether response is base64"`
	StatusCode       int               `json:"status_code" help:"the status, such as 200"`
	ResponseHeaders  map[string]string `json:"response_headers" help:"response headers, names in lower case"`
	ResponseTime     float64           `json:"response_time" help:"seconds the exchange took"`
	URL              string            `json:"url" help:"where the response came from, after redirects"`
	FilePath         string            `json:"file_path" help:"the file that has the body; empty when there is none"`
	Size             int64             `json:"size" help:"how many bytes the body has, unpacked"`
	Error            string            `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

// HTTPFailure is what an http node leaves behind that had no answer.
type HTTPFailure struct {
	Error string `json:"error"`
}

// JSON is the outputs with a response, a value of the event stream that may be long and is copied once.
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
