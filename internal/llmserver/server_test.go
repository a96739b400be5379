package llmserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/golden"
	"github.com/pflow-suite/pflow/internal/llmserver"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const prompt = `[[text Grüße, and a good day to all of you]] [[tool weigh {"of":["[[a]]",1]}]] [[usage 7 5 3 2]] go on`

// TestTheStreams compares the streams of both APIs with a golden file.
func TestTheStreams(t *testing.T) {
	t.Parallel()
	s := llmserver.Start(t)
	said := `{"role":"user","content":` + string(rawjson.Quote(prompt)) + `}`
	var b strings.Builder
	for _, path := range []string{"/v1/chat/completions", "/v1/messages"} {
		for _, turns := range []string{said, said + `,{"role":"assistant","content":"a good day"},{"role":"user","content":"and now?"}`} {
			status, stream := post(t, s.URL+path, `{"model":"m","max_tokens":100,"stream":true,"stream_options":{"include_usage":true},"messages":[`+turns+`]}`)
			fmt.Fprintf(&b, "# %s: %d\n%s", path, status, stream)
		}
	}
	golden.Compare(t, "testdata/streams.golden", b.String())
}

// post sends a request with a JSON body and returns the status and the body of the response.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body)) //nolint:gosec // a server of the test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestFailuresAreTheAPIs(t *testing.T) {
	t.Parallel()
	s := llmserver.Start(t)
	s.Models = []string{"m"}
	for _, c := range []struct {
		model, prompt string
		chat, message int
		kind          string // of Anthropic's API, in the answer of both
	}{
		{"m", "[[status 429 1 slow down]]", 429, 200, "rate_limit_error"}, // the first of the two requests fails
		{"m", "[[status 418]]", 418, 418, "api_error"},
		{"m", "[[key k]]", 401, 401, "authentication_error"},
		{"other", "hello", 404, 404, "not_found_error"},
		{"m", "hello", 200, 200, ""},
	} {
		body := `{"model":"` + c.model + `","max_tokens":9,"messages":[{"role":"user","content":"` + c.prompt + `"}]}`
		chat, said := post(t, s.URL+"/v1/chat/completions", body)
		message, _ := post(t, s.URL+"/v1/messages", body)
		if chat != c.chat || message != c.message || gjson.Get(said, "error.type").Str != c.kind {
			t.Errorf("%s %q: status %d and %d with %s, want %d and %d with the type %q", c.model, c.prompt, chat, message, said, c.chat, c.message, c.kind)
		}
	}
}

// TestAFailureMayPassSoon checks that clients of the server do not wait for long before they try again.
func TestAFailureMayPassSoon(t *testing.T) {
	t.Parallel()
	s := llmserver.Start(t)
	for prompt, want := range map[string]string{"[[status 503]]": "10", "[[status 429]] [[retry-after 3]]": "", "[[status 400]]": ""} {
		body := `{"model":"m","messages":[{"role":"user","content":"` + prompt + `"}]}`
		resp, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := resp.Header.Get("Retry-After-Ms"); got != want {
			t.Errorf("%s: Retry-After-Ms is %q, want %q", prompt, got, want)
		}
	}
}

func TestTheLeastThatFits(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"n":{"type":"integer","minimum":3},"s":{"type":"string"},"l":{"type":"array","minItems":2,"items":{"$ref":"#/$defs/e"}}},"$defs":{"e":{"enum":["b","c"]}}}`: `{"l":["b","b"],"n":3,"s":"text"}`,
		`{"anyOf":[{"type":["boolean","null"]},{"type":"null"}]}`:              `true`,
		`{"type":"object","properties":{"next":{"$ref":"#"},"x":{"const":5}}}`: "",
	} {
		got := string(llmserver.Fitting(json.RawMessage(schema)))
		if want == "" {
			if !strings.HasPrefix(got, `{"next":{"next":`) || !strings.Contains(got, `"x":5`) {
				t.Errorf("%s: %s", schema, got)
			}
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", schema, d)
		}
	}
}
