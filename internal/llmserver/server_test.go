package llmserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"github.com/pflow-suite/pflow/internal/golden"
	"github.com/pflow-suite/pflow/internal/llmserver"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const prompt = `[[text Grüße, and a good day to all of you]] [[tool weigh {"of":["[[a]]",1]}]] [[usage 7 5 3 2]] go on`

func TestAnthropicReadsTheStream(t *testing.T) {
	t.Parallel()
	s := llmserver.Start(t)
	client := anthropic.NewMessageService(anthropicoption.WithBaseURL(s.URL), anthropicoption.WithAPIKey("k"))
	params := anthropic.MessageNewParams{
		Model: "m", MaxTokens: 100,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
		Tools:    []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{}, "weigh")},
	}
	ask := func() *anthropic.Message {
		t.Helper()
		stream := client.NewStreaming(t.Context(), params)
		var m anthropic.Message
		for stream.Next() {
			if err := m.Accumulate(stream.Current()); err != nil {
				t.Fatal(err)
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		return &m
	}
	m := ask()
	if m.Content[0].Text != "Grüße, and a good day to all of you" || m.StopReason != "end_turn" || m.Usage.InputTokens != 7 ||
		m.Usage.OutputTokens != 5 || m.Usage.CacheReadInputTokens != 3 || m.Usage.CacheCreationInputTokens != 2 {
		t.Errorf("first turn: %s", m.RawJSON())
	}
	params.Messages = append(params.Messages, m.ToParam(), anthropic.NewUserMessage(anthropic.NewTextBlock("and now?")))
	m = ask()
	if m.StopReason != "tool_use" || m.Content[0].Name != "weigh" || string(m.Content[0].Input) != `{"of":["[[a]]",1]}` {
		t.Errorf("second turn: %+v", m.Content)
	}
}

func TestOpenAIReadsTheStream(t *testing.T) {
	t.Parallel()
	s := llmserver.Start(t)
	client := openai.NewChatCompletionService(openaioption.WithBaseURL(s.URL+"/v1"), openaioption.WithAPIKey("k"))
	params := openai.ChatCompletionNewParams{
		Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	ask := func() openai.ChatCompletion {
		t.Helper()
		stream := client.NewStreaming(t.Context(), params)
		var acc openai.ChatCompletionAccumulator
		for stream.Next() {
			if !acc.AddChunk(stream.Current()) {
				t.Fatal("a chunk does not belong to the others")
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		return acc.ChatCompletion
	}
	m := ask()
	if c := m.Choices[0]; c.Message.Content != "Grüße, and a good day to all of you" || c.FinishReason != "stop" || m.Usage.PromptTokens != 12 ||
		m.Usage.CompletionTokens != 5 || m.Usage.PromptTokensDetails.CachedTokens != 3 {
		t.Errorf("first turn: %+v", m)
	}
	params.Messages = append(params.Messages, m.Choices[0].Message.ToParam(), openai.UserMessage("and now?"))
	c := ask().Choices[0]
	if c.FinishReason != "tool_calls" || c.Message.ToolCalls[0].Function.Arguments != `{"of":["[[a]]",1]}` {
		t.Errorf("second turn: %+v", c)
	}
}

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
	chat := openai.NewChatCompletionService(openaioption.WithBaseURL(s.URL+"/v1"), openaioption.WithMaxRetries(0))
	message := anthropic.NewMessageService(anthropicoption.WithBaseURL(s.URL), anthropicoption.WithMaxRetries(0))
	ask := func(model, prompt string) (int, int) {
		_, err := chat.New(context.Background(), openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)}})
		_, err2 := message.New(context.Background(), anthropic.MessageNewParams{Model: model, MaxTokens: 9, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))}})
		return statusOf[*openai.Error](err, func(e *openai.Error) int { return e.StatusCode }), statusOf[*anthropic.Error](err2, func(e *anthropic.Error) int { return e.StatusCode })
	}
	for _, c := range []struct {
		model, prompt   string
		openai, another int
	}{
		{"m", "[[status 429 1 slow down]]", 429, 0}, // the first of the two requests fails
		{"m", "[[status 418]]", 418, 418},
		{"m", "[[key k]]", 401, 401},
		{"other", "hello", 404, 404},
		{"m", "hello", 0, 0},
	} {
		if a, b := ask(c.model, c.prompt); a != c.openai || b != c.another {
			t.Errorf("%s %q: status %d and %d", c.model, c.prompt, a, b)
		}
	}
}

func statusOf[E error](err error, status func(E) int) int {
	if e, ok := errors.AsType[E](err); ok {
		return status(e)
	}
	if err != nil {
		return -1
	}
	return 0
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
