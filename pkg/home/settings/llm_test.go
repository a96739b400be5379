package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestLLM(t *testing.T) {
	got, err := load(t, `{"llm":{"default_model":"m","provider":"anthropic","discovery_model":null,"prices":{"m*":{"input":3,"output":15,"cache_read":0.3}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	read := 0.3
	want := LLM{DefaultModel: "m", Provider: "anthropic", Prices: map[string]Price{"m*": {Input: 3, Output: 15, CacheRead: &read}}}
	if d := cmp.Diff(want, got.LLM); d != "" {
		t.Error(d)
	}
}

func TestABrokenLLMIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"llm":{"provider":"openrouter"}}`:              `llm.provider must be openai or anthropic, not "openrouter"`,
		`{"llm":{"prices":{"m":{"input":-1}}}}`:          `llm.prices of "m" has a price below 0`,
		`{"llm":{"prices":{"m":{"cache_write":-1}}}}`:    `llm.prices of "m" has a price below 0`,
		`{"llm":{"prices":{"m":{"input":"3 dollars"}}}}`: "llm.prices.m.input must be a number, not text",
	} {
		_, err := load(t, text)
		if f := fault.From(err); f == nil || f.Type != fault.Validation || !strings.Contains(f.Message, want) {
			t.Errorf("%s: got %+v", text, f)
		}
	}
}
