package event

import (
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		name    string
		outputs []string
		want    string
		models  string
	}{
		{"none", []string{`{"stdout":"x"}`, `{"llm_usage":null}`, `{"llm_usage":"much"}`, `{}`}, "", ""},
		{"one", []string{`{"llm_usage":{"model":"a","input_tokens":10,"output_tokens":5,"total_tokens":15,"cost_usd":0.01}}`}, "1 model call, 10 tokens in, 5 out, $0.0100", "a"},
		{"without a price", []string{`{"llm_usage":{"input_tokens":10,"output_tokens":5}}`}, "1 model call, 10 tokens in, 5 out", ""},
		{"some without a price", []string{
			`{"llm_usage":{"model":"a","input_tokens":10,"output_tokens":5}}`,
			`{"llm_usage":{"model":"b","input_tokens":1,"output_tokens":2,"cost_usd":0.5}}`,
			`{"llm_usage":{"model":"a","input_tokens":1,"output_tokens":2,"cost_usd":0.25}}`,
		}, "3 model calls, 12 tokens in, 9 out, at least $0.7500", "a b"},
		{"beyond measure", []string{
			`{"llm_usage":{"input_tokens":9223372036854775807,"output_tokens":-5,"cost_usd":1e308}}`,
			`{"llm_usage":{"input_tokens":9223372036854775807,"output_tokens":1e300,"cost_usd":-3}}`,
			`{"llm_usage":{"input_tokens":"many","output_tokens":1,"cost_usd":"much"}}`,
		}, "3 model calls, 9007199254740992 tokens in, 9007199254740992 out", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var u *Usage
			for _, o := range test.outputs {
				u = u.Add([]byte(o))
			}
			if got := u.String(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if u != nil && strings.Join(u.Models, " ") != test.models {
				t.Errorf("models %v, want %s", u.Models, test.models)
			}
		})
	}
}
