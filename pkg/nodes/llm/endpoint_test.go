package llm

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

func TestWhoIsAsked(t *testing.T) {
	t.Parallel()
	type env = map[string]string
	for name, c := range map[string]struct {
		p        nodetype.LLM
		env      env
		settings settings.Settings
		want     string // provider, model, base, key; or the fault
	}{
		"by the model's name":            {nodetype.LLM{Model: "claude-x"}, env{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}, settings.Settings{}, "anthropic claude-x https://api.anthropic.com a"},
		"OpenAI's":                       {nodetype.LLM{Model: "gpt-x"}, env{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}, settings.Settings{}, "openai gpt-x https://api.openai.com/v1 o"},
		"by the key there is":            {nodetype.LLM{Model: "x"}, env{"ANTHROPIC_API_KEY": "a"}, settings.Settings{}, "anthropic x https://api.anthropic.com a"},
		"OpenAI's API when in doubt":     {nodetype.LLM{Model: "x"}, env{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}, settings.Settings{}, "openai x https://api.openai.com/v1 o"},
		"a server of one's own":          {nodetype.LLM{Model: "x", BaseURL: "http://h:1/v1/"}, env{"ANTHROPIC_API_KEY": "a"}, settings.Settings{}, "openai x http://h:1/v1 "},
		"the parameter says it":          {nodetype.LLM{Model: "claude-x", Provider: "openai"}, env{"OPENAI_BASE_URL": "http://h/v1"}, settings.Settings{}, "openai claude-x http://h/v1 "},
		"the settings say it":            {nodetype.LLM{Model: "x"}, env{"ANTHROPIC_BASE_URL": "http://h/v1"}, settings.Settings{LLM: settings.LLM{Provider: "anthropic"}}, "anthropic x http://h "},
		"provider and model":             {nodetype.LLM{Model: "anthropic/claude-x"}, env{"ANTHROPIC_API_KEY": "a"}, settings.Settings{}, "anthropic claude-x https://api.anthropic.com a"},
		"a router's name":                {nodetype.LLM{Model: "anthropic/claude-x", BaseURL: "https://r/v1"}, env{"OPENAI_API_KEY": "o"}, settings.Settings{}, "openai anthropic/claude-x https://r/v1 "},
		"a server that a workflow names": {nodetype.LLM{Model: "x", BaseURL: "https://api.openai.com.evil.org/v1"}, env{"OPENAI_API_KEY": "o"}, settings.Settings{}, "openai x https://api.openai.com.evil.org/v1 "},
		"the same, the settings' key":    {nodetype.LLM{Model: "claude-x", BaseURL: "https://evil.org"}, nil, settings.Settings{Env: env{"ANTHROPIC_API_KEY": "a"}}, "anthropic claude-x https://evil.org "},
		"a server with its own key":      {nodetype.LLM{Model: "x", BaseURL: "https://evil.org", APIKey: "p"}, env{"OPENAI_API_KEY": "o"}, settings.Settings{}, "openai x https://evil.org p"},
		"the provider's, named":          {nodetype.LLM{Model: "x", BaseURL: "https://API.openai.com/v2"}, env{"OPENAI_API_KEY": "o"}, settings.Settings{}, "openai x https://API.openai.com/v2 o"},
		"the provider's, in the open":    {nodetype.LLM{Model: "x", BaseURL: "http://api.openai.com/v1"}, env{"OPENAI_API_KEY": "o"}, settings.Settings{}, "openai x http://api.openai.com/v1 "},
		"the user's server, named":       {nodetype.LLM{Model: "x", BaseURL: "http://h:1/other"}, env{"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://h:1/v1"}, settings.Settings{}, "openai x http://h:1/other o"},
		"another port":                   {nodetype.LLM{Model: "x", BaseURL: "http://h:2/v1"}, env{"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://h:1/v1"}, settings.Settings{}, "openai x http://h:2/v1 "},
		"the environment before":         {nodetype.LLM{}, env{"PFLOW_LLM_MODEL": "gpt-e", "OPENAI_API_KEY": "e"}, settings.Settings{LLM: settings.LLM{DefaultModel: "gpt-s"}, Env: env{"OPENAI_API_KEY": "s"}}, "openai gpt-e https://api.openai.com/v1 e"},
		"the settings":                   {nodetype.LLM{}, nil, settings.Settings{LLM: settings.LLM{DefaultModel: "gpt-s"}, Env: env{"OPENAI_API_KEY": "s", "OPENAI_BASE_URL": "https://h/v2"}}, "openai gpt-s https://h/v2 s"},
		"the parameters":                 {nodetype.LLM{Model: "gpt-p", APIKey: "p", BaseURL: "https://p"}, env{"OPENAI_API_KEY": "e", "OPENAI_BASE_URL": "https://e"}, settings.Settings{}, "openai gpt-p https://p p"},
		"no model":                       {nodetype.LLM{}, nil, settings.Settings{}, "No model configured for LLM node 'n'"},
		"no key":                         {nodetype.LLM{Model: "gpt-x"}, env{"ANTHROPIC_API_KEY": "a"}, settings.Settings{}, `There is no key for the openai API, which model "gpt-x" needs`},
		"no key, the own URL spelt out":  {nodetype.LLM{Model: "claude-x", BaseURL: "https://api.anthropic.com/v1/", Provider: "anthropic"}, nil, settings.Settings{}, `There is no key for the anthropic API, which model "claude-x" needs`},
		"no URL":                         {nodetype.LLM{Model: "x", BaseURL: "ftp://h"}, nil, settings.Settings{}, "The base URL of the openai API is not an http or https URL"},
	} {
		a := Asker{Getenv: func(n string) string { return c.env[n] }, Settings: c.settings, Node: "n"}
		e, err := a.endpoint(&c.p)
		got := ""
		if f, ok := errors.AsType[*fault.Fault](err); ok {
			got = f.Message
			if len(f.Suggestions) == 0 {
				t.Errorf("%s: nothing to do next", name)
			}
		} else {
			got = strings.Join([]string{e.provider, e.model, e.base.String(), e.key}, " ")
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	read, write := 0.5, 4.0
	prices := map[string]settings.Price{
		"big": {Input: 10, Output: 20}, "b*": {Input: 1, Output: 1}, "bi*": {Input: 2, Output: 2}, "cached": {Input: 3, Output: 15, CacheRead: &read, CacheWrite: &write},
	}
	u := &nodetype.Usage{InputTokens: 1_000_000, OutputTokens: 100_000, CacheReadTokens: 200_000, CacheCreationTokens: 100_000}
	for models, want := range map[string]float64{
		"big": 12, "bigger": 2.2, "bag": 1.1, "cached": 0.7*3 + 0.2*0.5 + 0.1*4 + 1.5, "small big": 12, "small": -1,
	} {
		got := cost(prices, u, strings.Fields(models)...)
		if (got == nil) != (want < 0) || got != nil && (*got-want > 1e-9 || want-*got > 1e-9) {
			t.Errorf("%s: %v, want %v", models, got, want)
		}
	}
}
