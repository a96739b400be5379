package llm

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// The names of the providers.
const (
	openaiName    = "openai"
	anthropicName = "anthropic"
)

// provider describes the API of a provider.
type provider struct {
	name           string
	base           string // the URL of the provider's own service
	keyVar, urlVar string // environment variables
	// path is the path of requests, relative to base.
	path string
}

func providerOf(name string) provider {
	if name == anthropicName {
		return provider{name: anthropicName, base: "https://api.anthropic.com", keyVar: "ANTHROPIC_API_KEY", urlVar: "ANTHROPIC_BASE_URL", path: "/v1/messages"}
	}
	return provider{name: openaiName, base: "https://api.openai.com/v1", keyVar: "OPENAI_API_KEY", urlVar: "OPENAI_BASE_URL", path: "/chat/completions"}
}

// endpoint is the API and the model to ask.
type endpoint struct {
	provider string
	model    string
	base     *url.URL
	// own reports whether it is the provider's own service, and not another server with the same API.
	own bool
	key string
	// keyFrom describes where the key comes from, or should come from.
	keyFrom string
	// withheld is the variable of a key that is not sent, because only the workflow names the server.
	withheld string
	// urlVar is the variable with the URL of a server that the user trusts with the key.
	urlVar string
	path   string
}

// host returns the host of the API, for messages.
func (e *endpoint) host() string { return e.base.Host }

// url returns the URL of the API without a password, for messages.
func (e *endpoint) url() string { return e.base.Redacted() }

// redacted replaces the key and the password in the texts of a fault.
func (e *endpoint) redacted(f *fault.Fault) *fault.Fault {
	clean := func(s string) string {
		if e.key != "" {
			s = strings.ReplaceAll(s, e.key, "<redacted>")
		}
		if password, ok := e.base.User.Password(); ok && password != "" {
			s = strings.ReplaceAll(s, password, "<redacted>")
		}
		return s
	}
	f.Message = clean(f.Message)
	for i := range f.Suggestions {
		f.Suggestions[i] = clean(f.Suggestions[i])
	}
	for k, v := range f.Details {
		if s, ok := v.(string); ok {
			f.Details[k] = clean(s)
		}
	}
	return f
}

// sameServer reports whether a URL has the scheme and the host of the endpoint.
func (e *endpoint) sameServer(other string) bool {
	u, err := url.Parse(other)
	return err == nil && u.Scheme == e.base.Scheme && strings.EqualFold(u.Host, e.base.Host)
}

// variable returns a variable of the environment, or else of env in the settings, and a description of where it comes from.
func (a *Asker) variable(name string) (value, from string) {
	if a.Getenv != nil {
		if v := a.Getenv(name); v != "" {
			return v, "the environment variable " + name
		}
	}
	if v := a.Settings.Env[name]; v != "" {
		return v, name + " in the env of settings.json"
	}
	return "", name
}

// endpoint chooses the API and the model to ask.
func (a *Asker) endpoint(p *nodetype.LLM) (*endpoint, error) {
	fromEnv, _ := a.variable("PFLOW_LLM_MODEL")
	model := cmp.Or(p.Model, fromEnv, a.Settings.LLM.DefaultModel)
	if model == "" {
		return nil, a.noModel()
	}
	name, model := a.choose(p, model)
	known := providerOf(name)
	e := &endpoint{provider: name, model: model, path: known.path, urlVar: known.urlVar}
	fromEnv, _ = a.variable(known.urlVar)
	base := strings.TrimRight(cmp.Or(p.BaseURL, fromEnv, known.base), "/")
	if name == anthropicName { // some write it with the version, as for the other API
		base = strings.TrimSuffix(base, "/v1")
	}
	var err error
	if e.base, err = url.Parse(base); err != nil || e.base.Scheme != "http" && e.base.Scheme != "https" || e.base.Host == "" {
		return nil, fault.New(fault.Execution, "The base URL of the %s API is not an http or https URL", name).
			Suggest("Set base_url or %s to a complete URL, such as %s", known.urlVar, known.base)
	}
	e.own = base == strings.TrimSuffix(known.base, "/")
	e.key, e.keyFrom = a.variable(known.keyVar)
	switch {
	case p.APIKey != "":
		e.key, e.keyFrom = p.APIKey, "the parameter api_key"
	case p.BaseURL != "" && e.key != "" && !e.sameServer(known.base) && !e.sameServer(fromEnv): // a workflow of someone else may name any server
		e.key, e.withheld = "", known.keyVar
	}
	if e.key == "" && e.own {
		return nil, fault.New(fault.Execution, "There is no key for the %s API, which model %q needs", name, model).
			Suggest("Set %s in the environment, or in the env of settings.json (pflow-lib settings)", known.keyVar).
			Suggest("For another server with the same API, such as a local one, set base_url")
	}
	return e, nil
}

// noModel returns the fault for a missing model. Its message is the same as in upstream pflow.
func (a *Asker) noModel() error {
	node := ""
	if a.Node != "" {
		node = " '" + a.Node + "'"
	}
	return fault.New(fault.Execution, "No model configured for LLM node%s", node).
		Suggest(`Give the node a "model"`).
		Suggest(`Set one for all: PFLOW_LLM_MODEL in the environment, or {"llm": {"default_model": "…"}} in settings.json`)
}

// choose returns the provider and the model's name there. A model PROVIDER/MODEL names both, if it goes to the provider's own
// service.
func (a *Asker) choose(p *nodetype.LLM, model string) (name, bare string) {
	prefix, rest, both := strings.Cut(model, "/")
	if both && p.BaseURL == "" && (prefix == openaiName || prefix == anthropicName) && (p.Provider == "" || p.Provider == prefix) && !a.has(providerOf(prefix).urlVar) {
		return prefix, rest
	}
	switch {
	case p.Provider != "":
		return p.Provider, model
	case a.Settings.LLM.Provider != "":
		return a.Settings.LLM.Provider, model
	case strings.HasPrefix(model, "claude"):
		return anthropicName, model
	case p.BaseURL != "" || regexp.MustCompile(`^(gpt|chatgpt|o[0-9])`).MatchString(model):
		return openaiName, model
	case !a.has("OPENAI_API_KEY", "OPENAI_BASE_URL") && a.has("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
		return anthropicName, model
	}
	return openaiName, model
}

// has reports whether one of the variables is set.
func (a *Asker) has(names ...string) bool {
	for _, name := range names {
		if v, _ := a.variable(name); v != "" {
			return true
		}
	}
	return false
}
