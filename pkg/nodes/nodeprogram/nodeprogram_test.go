package nodeprogram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

func TestDescribe(t *testing.T) {
	for _, name := range nodetype.BuiltinNames() {
		var out bytes.Buffer
		if err := Describe(&out, name); err != nil {
			t.Fatal(err)
		}
		var got nodetype.Type
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
			t.Errorf("%s: %v: %s", name, err, &out)
		}
		want, _ := nodetype.Builtin(name)
		if diff := cmp.Diff(want.ParamNames(), got.ParamNames()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if err := Describe(&bytes.Buffer{}, "no-such"); err == nil {
		t.Error("a type that does not exist is described")
	}
}

func TestRead(t *testing.T) {
	for _, test := range []struct{ request, wrong string }{
		{`{"v":1,"params":{"prompt":"p","retries":5,"images":["a"]}}`, ""},
		{"\n{\"params\" : {\"prompt\":\"p\", \"retries\":5, \"images\":[\"a\"]}, \"v\":1, \"later\":true}\n", ""},
		{``, "is not a request"},
		{`hello`, "is not a request"},
		{`{"v":1}`, "is not a request"},
		{`{"v":2,"params":{"prompt":"p"}}`, "needs version 1"},
		{`{"v":1,"params":[]}`, "must be a JSON object"},
		{`{"v":1,"params":{}}`, `Parameter "prompt" is required`},
		{`{"v":1,"params":{"promt":"p"}}`, `Unknown parameter "promt"`},
		{`{"v":1,"params":{"prompt":"p","provider":"acme"}}`, `Parameter "provider" cannot be "acme"`},
		{`{"v":1,"params":{"prompt":"p","images":[1]}}`, `Parameter "images[0]" cannot hold number`},
	} {
		got, err := Read[nodetype.LLM](t.Context(), strings.NewReader(test.request), "llm", MaxRequest)
		switch {
		case test.wrong != "":
			if err == nil || !strings.Contains(err.Error(), test.wrong) || strings.Contains(err.Error(), "Go ") {
				t.Errorf("%s: %v, want %q", test.request, err, test.wrong)
			}
		case err != nil:
			t.Errorf("%s: %v", test.request, err)
		case got.Prompt != "p" || got.Retries != 5 || len(got.Images) != 1 || got.Timeout == 0:
			t.Errorf("%s is read as %+v", test.request, got)
		}
	}
}

func TestServe(t *testing.T) {
	const request = `{"v":1,"params":{"message":"hello"}}`
	echo := func(f error) func(context.Context, nodetype.Echo) (*nodetype.EchoOutputs, error) {
		return func(_ context.Context, p nodetype.Echo) (*nodetype.EchoOutputs, error) {
			return &nodetype.EchoOutputs{Echo: p.Message + " <&>", Data: json.RawMessage("12345678901234567890")}, f
		}
	}
	const outputs = `"echo":"hello <&>","data":12345678901234567890,"metadata":{"original_message":"","count":0,"modified":false}`
	busy := fault.New(fault.Unavailable, "busy").Suggest("wait")
	busy.Retryable = true
	for _, test := range []struct {
		name, request string
		err           error
		want          string
	}{
		{"done", request, nil, "{" + outputs + "}\n"},
		{"failed", request, busy, `{"data":12345678901234567890,"echo":"hello <&>","error":{"type":"unavailable","message":"busy","suggestions":["wait"],"retryable":true},"metadata":{"original_message":"","count":0,"modified":false}}` + "\n"},
		{"refused", `{"v":1,"params":{"masage":"x"}}`, nil, `{"error":{"type":"usage_error","message":"Unknown parameter \"masage\"","suggestions":["Did you mean \"message\"?"]}}` + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			err := Serve(t.Context(), "echo", MaxRequest, strings.NewReader(test.request), &out, echo(test.err))
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Error(diff)
			}
			if test.err != nil && !errors.Is(err, test.err) || (err != nil) != strings.Contains(test.want, "error") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestServeAsking checks that a question is written beside the outputs, and that its answer comes with the next request.
func TestServeAsking(t *testing.T) {
	serve := func(request string) string {
		var out bytes.Buffer
		err := ServeAsking(t.Context(), "echo", MaxRequest, strings.NewReader(request), &out, func(_ context.Context, _ nodetype.Echo, a *Answer) (*nodetype.AgentOutputs, *Question, error) {
			if a == nil {
				return &nodetype.AgentOutputs{SessionID: "s"}, &Question{Text: "Which?", AnyAnswer: true, State: json.RawMessage(`[1]`)}, nil
			}
			return &nodetype.AgentOutputs{SessionID: a.Text + string(a.State)}, nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := serve(`{"v":1,"params":{}}`); !strings.Contains(got, `"$ask":{"question":"Which?","any_answer":true,"state":[1]}`) || !strings.Contains(got, `"session_id":"s"`) {
		t.Error(got)
	}
	if got := serve(`{"v":1,"params":{},"answer":"","state":[1]}`); strings.Contains(got, "$ask") || !strings.Contains(got, `"session_id":"[1]"`) {
		t.Error(got)
	}
}
