package llm

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// The APIs, which are also the names of their first providers.
const (
	openaiName    = nodetype.OpenAI
	anthropicName = nodetype.Anthropic
)

// endpoint is the API and the model to ask.
type endpoint struct {
	// provider is the name of the provider, api that of its API.
	provider, api string
	model         string
	base          *url.URL
	// own reports whether it is the provider's own service, and not another server with the same API.
	own bool
	key string
	// keyFrom describes where the key comes from, or should come from. It is empty if the provider needs no key.
	keyFrom string
	// withheld is the variable of a key that is not sent, because only the workflow names the server.
	withheld string
	// urlVar is the variable with the URL of a server that the user trusts with the key.
	urlVar string
}

// host returns the host of the API, for messages.
func (e *endpoint) host() string { return e.base.Host }

// url returns the URL of the API without a password, for messages.
func (e *endpoint) url() string { return e.base.Redacted() }

// missingKey returns what to do about a key that is missing.
func (e *endpoint) missingKey() string {
	if e.keyFrom == "" {
		return "Set api_key"
	}
	return "Set " + e.keyFrom + " in the environment or in env of settings.json, or set api_key"
}

// pathOf returns the path of the requests of an API, relative to its base URL.
func pathOf(api string) string {
	if api == anthropicName {
		return "/v1/messages"
	}
	return "/chat/completions"
}

// modelsPath returns the path and the query of the list of models of an API, relative to its base URL.
func modelsPath(api string) string {
	if api == anthropicName {
		return "/v1/models?limit=100"
	}
	return "/models"
}

// request returns the URL of a request with a path relative to the base URL, whose query is left out.
func (e *endpoint) request(path string) string {
	base := url.URL{Scheme: e.base.Scheme, User: e.base.User, Host: e.base.Host, Path: e.base.Path, RawPath: e.base.RawPath}
	return strings.TrimSuffix(base.String(), "/") + path
}

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
	f.MapSuggestions(clean)
	for k, v := range f.Details {
		if s, ok := v.(string); ok {
			f.Details[k] = clean(s)
		}
	}
	return f
}

// sameServer reports whether two URLs have the same scheme and the same host.
func sameServer(a, b string) bool {
	one, err := url.Parse(a)
	if err != nil {
		return false
	}
	other, err := url.Parse(b)
	return err == nil && one.Host != "" && one.Scheme == other.Scheme && strings.EqualFold(one.Host, other.Host)
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
	service, model, f := a.choose(p, model)
	if f != nil {
		return nil, f
	}
	e := &endpoint{provider: service.Name, api: service.API, model: model, urlVar: service.URLVar}
	fromEnv, _ = a.variable(service.URLVar)
	base := strings.TrimRight(cmp.Or(p.BaseURL, fromEnv, service.Base), "/")
	if e.api == anthropicName { // some write it with the version, as for the other API
		base = strings.TrimSuffix(base, "/v1")
	}
	var err error
	if e.base, err = url.Parse(base); err != nil || e.base.Scheme != "http" && e.base.Scheme != "https" || e.base.Host == "" {
		return nil, fault.New(fault.Execution, "The base URL of the %s API is not an http or https URL", e.provider).
			Suggest("Set base_url or %s to a complete URL, such as %s", service.URLVar, service.Base)
	}
	e.own = base == service.Base
	if service.KeyVar != "" {
		e.key, e.keyFrom = a.variable(service.KeyVar)
	}
	switch {
	case p.APIKey != "":
		e.key, e.keyFrom = p.APIKey, "the parameter api_key"
	case p.BaseURL != "" && e.key != "" && !sameServer(base, service.Base) && !sameServer(base, fromEnv): // a workflow of someone else may name any server
		e.key, e.withheld = "", service.KeyVar
	}
	if e.key == "" && e.own && service.KeyVar != "" {
		return nil, fault.New(fault.Execution, "There is no key for the %s API, which model %q needs", e.provider, model).
			Suggest("Set %s in the environment or the settings", service.KeyVar).Then(fault.ByPerson("Set it", "pflow-lib settings set-env %s -", service.KeyVar)).
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

// choose returns the provider to ask, and the model's name there. A model that belongs to one provider never goes to the service
// of another.
func (a *Asker) choose(p *nodetype.LLM, model string) (nodetype.LLMService, string, *fault.Fault) {
	wanted := cmp.Or(p.Provider, a.Settings.LLM.Provider)
	if p.BaseURL != "" {
		if wanted == "" && strings.HasPrefix(model, "claude") {
			wanted = anthropicName
		}
		return serviceAt(p.BaseURL, cmp.Or(wanted, openaiName)), model, nil
	}
	service, bare, prefixed, f := nodetype.PrefixedModel(model, p.Provider)
	if prefixed {
		return service, bare, f
	}
	family, open, known := nodetype.ServiceOfModel(model)
	if wanted != "" {
		api, _ := nodetype.LLMServiceNamed(wanted)
		switch {
		case !known || family.Name == wanted || a.elsewhere(api):
			return api, model, nil
		case p.Provider != "" && family.API != p.Provider:
			return api, model, fault.New(fault.Execution, "Model %q is one of %s, but provider is %q", model, family.Name, p.Provider).
				Suggest("Leave provider out, or set base_url to the server that has the model")
		}
		return family, model, nil
	}
	openai, _ := nodetype.LLMServiceNamed(openaiName)
	anthropic, _ := nodetype.LLMServiceNamed(anthropicName)
	switch {
	case known && !(open && a.elsewhere(openai)):
		return family, model, nil
	case !a.has(openai) && a.has(anthropic):
		return anthropic, model, nil
	}
	return openai, model, nil
}

// serviceAt returns the provider with an API whose server a URL names. For any other server it is the first provider of the API.
func serviceAt(base, api string) nodetype.LLMService {
	services := nodetype.LLMServices()
	for _, s := range services {
		if s.API == api && sameServer(base, s.Base) {
			return s
		}
	}
	first, _ := nodetype.LLMServiceNamed(api)
	return first
}

// elsewhere reports whether the user has named a server of their own for the API of a provider.
func (a *Asker) elsewhere(s nodetype.LLMService) bool {
	base, _ := a.variable(s.URLVar)
	return base != "" && !sameServer(base, s.Base)
}

// has reports whether the key or the URL of a provider is set.
func (a *Asker) has(s nodetype.LLMService) bool {
	for _, name := range []string{s.KeyVar, s.URLVar} {
		if v, _ := a.variable(name); v != "" {
			return true
		}
	}
	return false
}
