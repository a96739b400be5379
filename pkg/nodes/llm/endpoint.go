package llm

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// The providers, by the names of their APIs.
const (
	openaiName    = "openai"
	anthropicName = "anthropic"
)

// provider is what is known of one of the APIs.
type provider struct {
	name           string
	base           string // where the provider's own service is
	keyVar, urlVar string
	// path is where questions are put, below the base.
	path string
}

func providerOf(name string) provider {
	if name == anthropicName {
		return provider{name: anthropicName, base: "https://api.anthropic.com", keyVar: "ANTHROPIC_API_KEY", urlVar: "ANTHROPIC_BASE_URL", path: "/v1/messages"}
	}
	return provider{name: openaiName, base: "https://api.openai.com/v1", keyVar: "OPENAI_API_KEY", urlVar: "OPENAI_BASE_URL", path: "/chat/completions"}
}

// endpoint is who is asked.
type endpoint struct {
	provider string
	model    string
	base     *url.URL
	// own says that it is the provider's own service, and no other server that speaks its API.
	own bool
	key string
	// keyFrom says in words where the key is from, or should be.
	keyFrom string
	// withheld is the name of a key that there is, and that does not go to a server that a workflow alone names.
	withheld string
	// urlVar is what names a server that the user trusts with the key.
	urlVar string
	path   string
}

// host names it in messages.
func (e *endpoint) host() string { return e.base.Host }

// shown is the URL as it may be told.
func (e *endpoint) shown() string { return e.base.Redacted() }

// hide takes the key out of a fault's texts.
func (e *endpoint) hide(f *fault.Fault) *fault.Fault {
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

// at says whether it is at the same server as a URL, spoken to in the same way.
func (e *endpoint) at(other string) bool {
	u, err := url.Parse(other)
	return err == nil && u.Scheme == e.base.Scheme && strings.EqualFold(u.Host, e.base.Host)
}

// variable is one of the environment, or else of the settings' env, with the words for where it is from.
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

// endpoint chooses whom to ask.
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
	if name == anthropicName { // where it is written with the version, as for the other API
		base = strings.TrimSuffix(base, "/v1")
	}
	var err error
	if e.base, err = url.Parse(base); err != nil || e.base.Scheme != "http" && e.base.Scheme != "https" || e.base.Host == "" {
		return nil, fault.New(fault.Execution, "The base URL of the %s API is no http or https URL", name).
			Suggest("Correct base_url or %s: a whole URL, such as %s", known.urlVar, known.base)
	}
	e.own = base == strings.TrimSuffix(known.base, "/")
	e.key, e.keyFrom = a.variable(known.keyVar)
	switch {
	case p.APIKey != "":
		e.key, e.keyFrom = p.APIKey, "the parameter api_key"
	case p.BaseURL != "" && e.key != "" && !e.at(known.base) && !e.at(fromEnv): // a workflow from elsewhere may name any server
		e.key, e.withheld = "", known.keyVar
	}
	if e.key == "" && e.own {
		return nil, fault.New(fault.Execution, "There is no key for the %s API, which model %q needs", name, model).
			Suggest("Set %s in the environment, or in the env of settings.json (pflow-lib settings)", known.keyVar).
			Suggest("For another server that speaks the same API, such as a local one, give base_url")
	}
	return e, nil
}

// noModel is upstream pflow's text for a model that nobody named, and how to name one.
func (a *Asker) noModel() error {
	node := ""
	if a.Node != "" {
		node = " '" + a.Node + "'"
	}
	return fault.New(fault.Execution, "No model configured for LLM node%s", node).
		Suggest(`Give the node a "model"`).
		Suggest(`Set one for all: PFLOW_LLM_MODEL in the environment, or {"llm": {"default_model": "…"}} in settings.json`)
}

// choose decides which API is spoken, and with which name of the model: where it goes to the provider's own service,
// provider/model says both.
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

// has says whether one of the variables is set.
func (a *Asker) has(names ...string) bool {
	for _, name := range names {
		if v, _ := a.variable(name); v != "" {
			return true
		}
	}
	return false
}
