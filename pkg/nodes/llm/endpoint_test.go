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
		"gemini's by prefix":             {nodetype.LLM{Model: "gemini/g"}, env{"GEMINI_API_KEY": "g", "OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://h/v1"}, settings.Settings{}, "gemini g https://generativelanguage.googleapis.com/v1beta/openai g"},
		"gemini's by name":               {nodetype.LLM{Model: "gemini-2"}, env{"GEMINI_API_KEY": "g", "OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://h/v1"}, settings.Settings{}, "gemini gemini-2 https://generativelanguage.googleapis.com/v1beta/openai g"},
		"openrouter keeps the rest":      {nodetype.LLM{Model: "openrouter/anthropic/claude-x"}, env{"OPENROUTER_API_KEY": "r", "ANTHROPIC_API_KEY": "a"}, settings.Settings{}, "openrouter anthropic/claude-x https://openrouter.ai/api/v1 r"},
		"ollama needs no key":            {nodetype.LLM{Model: "ollama/llama3"}, env{"OPENAI_API_KEY": "o", "OLLAMA_API_KEY": "x"}, settings.Settings{}, "ollama llama3 http://localhost:11434/v1 "},
		"groq":                           {nodetype.LLM{Model: "groq/x"}, nil, settings.Settings{Env: env{"GROQ_API_KEY": "q"}}, "groq x https://api.groq.com/openai/v1 q"},
		"mistral":                        {nodetype.LLM{Model: "mistral/x", Provider: "openai"}, env{"MISTRAL_API_KEY": "m"}, settings.Settings{}, "mistral x https://api.mistral.ai/v1 m"},
		"deepseek elsewhere":             {nodetype.LLM{Model: "deepseek/x"}, env{"DEEPSEEK_API_KEY": "d", "DEEPSEEK_BASE_URL": "http://d/v1"}, settings.Settings{}, "deepseek x http://d/v1 d"},
		"openai elsewhere":               {nodetype.LLM{Model: "openai/meta/llama"}, env{"OPENAI_BASE_URL": "http://h/v1"}, settings.Settings{}, "openai meta/llama http://h/v1 "},
		"an open model of one's own":     {nodetype.LLM{Model: "mistral-small"}, env{"OPENAI_BASE_URL": "http://h/v1", "MISTRAL_API_KEY": "m"}, settings.Settings{}, "openai mistral-small http://h/v1 "},
		"an open model, no other server": {nodetype.LLM{Model: "deepseek-chat"}, env{"OPENAI_API_KEY": "o", "DEEPSEEK_API_KEY": "d"}, settings.Settings{}, "deepseek deepseek-chat https://api.deepseek.com/v1 d"},
		"the settings' API does not fit": {nodetype.LLM{Model: "claude-x"}, env{"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"}, settings.Settings{LLM: settings.LLM{Provider: "openai"}}, "anthropic claude-x https://api.anthropic.com a"},
		"the parameter does not fit":     {nodetype.LLM{Model: "claude-x", Provider: "openai"}, env{"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"}, settings.Settings{}, `Model "claude-x" is one of anthropic, but provider is "openai"`},
		"the prefix does not fit":        {nodetype.LLM{Model: "anthropic/x", Provider: "openai"}, env{"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"}, settings.Settings{}, `Model "anthropic/x" is asked through the anthropic API, but provider is "openai"`},
		"an unknown prefix":              {nodetype.LLM{Model: "meta/x"}, env{"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://h/v1"}, settings.Settings{}, `Model "meta/x" begins with no known provider, so it is not clear who is to be asked`},
		"no key for the prefix":          {nodetype.LLM{Model: "groq/x"}, env{"OPENAI_API_KEY": "o"}, settings.Settings{}, `There is no key for the groq API, which model "x" needs`},
		"groq's own URL":                 {nodetype.LLM{Model: "groq/x", BaseURL: "https://api.groq.com/openai/v1"}, env{"OPENAI_API_KEY": "o", "GROQ_API_KEY": "q"}, settings.Settings{}, "groq groq/x https://api.groq.com/openai/v1 q"},
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

// TestNoProviderGetsAnothersRequest goes through models, keys and base URLs: a request goes only to the provider that the model
// names, or to a server that the user or the node names for its API, and takes no other key along.
func TestNoProviderGetsAnothersRequest(t *testing.T) {
	t.Parallel()
	names := []string{"", "gpt-x", "o3", "claude-x", "gemini-x", "deepseek-x", "mistral-x", "llama3", "meta/x"}
	for _, s := range nodetype.LLMServices() {
		names = append(names, s.Name+"/x", s.Name+"/anthropic/claude-x")
	}
	bases := []string{"", "http://mine:1/v1"}
	for _, s := range nodetype.LLMServices() {
		bases = append(bases, s.Base)
	}
	tried := 0
	keySets := []int{0, 1<<len(nodetype.LLMServices()) - 1}
	for i := range nodetype.LLMServices() {
		keySets = append(keySets, 1<<i)
	}
	for _, keys := range keySets {
		for _, elsewhere := range []string{"", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GEMINI_BASE_URL"} {
			env := map[string]string{elsewhere: "http://theirs:1/v1"}
			for i, s := range nodetype.LLMServices() {
				if s.KeyVar != "" && keys&(1<<i) != 0 {
					env[s.KeyVar] = "key of " + s.Name
				}
			}
			for _, name := range names {
				for _, base := range bases {
					for _, provider := range []string{"", openaiName, anthropicName} {
						for _, fromSettings := range []string{"", openaiName, anthropicName} {
							a := Asker{Getenv: func(n string) string { return env[n] }, Settings: settings.Settings{LLM: settings.LLM{Provider: fromSettings}}}
							e, err := a.endpoint(&nodetype.LLM{Model: name, BaseURL: base, Provider: provider})
							if err != nil {
								continue
							}
							tried++
							if wrong := foreign(e, name, base, env); wrong != "" {
								t.Fatalf("%s: model %q, base_url %q, provider %q, settings %q, env %v: %s %s %s key %q", wrong, name, base, provider, fromSettings, env, e.provider, e.model, e.base, e.key)
							}
						}
					}
				}
			}
		}
	}
	if tried < 10_000 {
		t.Errorf("only %d endpoints", tried)
	}
}

// foreign returns what is wrong with the server or the key of an endpoint, or "".
func foreign(e *endpoint, name, base string, env map[string]string) string {
	var owner nodetype.LLMService // of the server
	for _, s := range nodetype.LLMServices() {
		if sameServer(e.base.String(), s.Base) {
			owner = s
		}
	}
	switch {
	case e.key != "" && owner.Name != "" && e.key != "key of "+owner.Name:
		return "the key of another"
	case e.key != "" && owner.Name == "" && (e.base.Host != "theirs:1" || env[e.urlVar] == "" || e.key != "key of "+e.provider):
		return "a key for a server that nobody trusts with it"
	case base != "" && e.model != name:
		return "another name than the node's"
	case base != "":
		return ""
	case e.base.Host == "theirs:1" && env[e.urlVar] == "":
		return "a server that was named for another API"
	case owner.Name != "" && owner.Name != e.provider:
		return "the address of another"
	}
	prefix, _, prefixed := strings.Cut(name, "/")
	if prefixed && prefix != e.provider {
		return "not the provider that the model names"
	}
	if family, open, ok := nodetype.ServiceOfModel(name); ok && family.Name != e.provider && owner.Name != "" && !open {
		return "the service of another provider"
	}
	return ""
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
