package nodetype

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// The APIs of language models.
const (
	// OpenAI is the chat completions API, which most servers have.
	OpenAI = "openai"
	// Anthropic is the messages API.
	Anthropic = "anthropic"
)

// LLMService is a provider of language models. A model PROVIDER/MODEL names it by its Name.
type LLMService struct {
	Name string
	// API is OpenAI or Anthropic.
	API string
	// Base is the URL of the service. The variable URLVar names another server in its place.
	Base, URLVar string
	// KeyVar is the variable with the key. It is empty if the service needs none.
	KeyVar string
}

// LLMServices returns the known providers. OpenAI and Anthropic come first: they also stand for other servers with their API.
func LLMServices() []LLMService {
	return []LLMService{
		{OpenAI, OpenAI, "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"},
		{Anthropic, Anthropic, "https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"},
		{"gemini", OpenAI, "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_BASE_URL", "GEMINI_API_KEY"},
		{"openrouter", OpenAI, "https://openrouter.ai/api/v1", "OPENROUTER_BASE_URL", "OPENROUTER_API_KEY"},
		{"ollama", OpenAI, "http://localhost:11434/v1", "OLLAMA_BASE_URL", ""},
		{"groq", OpenAI, "https://api.groq.com/openai/v1", "GROQ_BASE_URL", "GROQ_API_KEY"},
		{"mistral", OpenAI, "https://api.mistral.ai/v1", "MISTRAL_BASE_URL", "MISTRAL_API_KEY"},
		{"deepseek", OpenAI, "https://api.deepseek.com/v1", "DEEPSEEK_BASE_URL", "DEEPSEEK_API_KEY"},
	}
}

// LLMServiceNamed returns the provider of a name.
func LLMServiceNamed(name string) (LLMService, bool) {
	services := LLMServices()
	i := slices.IndexFunc(services, func(s LLMService) bool { return s.Name == name })
	if i < 0 {
		return LLMService{}, false
	}
	return services[i], true
}

// PrefixedModel returns the provider and the model that a name PROVIDER/MODEL consists of. prefixed is false for a name without a
// slash. api is the parameter provider, which may be empty. The fault is about a provider that is unknown or has another API.
func PrefixedModel(name, api string) (service LLMService, model string, prefixed bool, f *fault.Fault) {
	prefix, model, prefixed := strings.Cut(name, "/")
	if !prefixed {
		return LLMService{}, name, false, nil
	}
	service, ok := LLMServiceNamed(prefix)
	switch {
	case !ok:
		var known []string
		for _, s := range LLMServices() {
			known = append(known, s.Name+"/")
		}
		f = fault.New(fault.Execution, "Model %q begins with no known provider, so it is not clear who is to be asked", fault.Truncate(name, 80))
		f.Available = known
		if near, ok := fault.Nearest(prefix+"/", known); ok {
			f.Suggest("Did you mean %q?", near+model)
		}
		f.Suggest("The providers are: %s", strings.Join(known, ", ")).
			Suggest("For a model of another server, set base_url, which takes the name as it is; or write openai/%s, which goes to OPENAI_BASE_URL", fault.Truncate(name, 80))
	case model == "":
		f = fault.New(fault.Execution, "Model %q names a provider and no model", name).Suggest("Write %sMODEL", name)
	case api != "" && api != service.API:
		f = fault.New(fault.Execution, "Model %q is asked through the %s API, but provider is %q", fault.Truncate(name, 80), service.API, api).
			Suggest("Leave provider out, or set base_url to the server of that API")
	}
	return service, model, true, f
}

// ServiceOfModel returns the provider whose models have names like the given one, such as claude-3. open reports whether other
// servers have models of such names too.
func ServiceOfModel(name string) (service LLMService, open, ok bool) {
	begins := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	provider := ""
	switch {
	case begins("claude"):
		provider = Anthropic
	case begins("gemini"):
		provider = "gemini"
	case begins("gpt-oss"): // an open model, which OpenAI itself does not serve
		return LLMService{}, false, false
	case begins("gpt", "chatgpt"), len(name) > 1 && name[0] == 'o' && name[1] >= '0' && name[1] <= '9':
		provider = OpenAI
	case begins("deepseek"):
		provider, open = "deepseek", true
	case begins("mistral", "ministral", "magistral", "codestral", "devstral", "pixtral"):
		provider, open = "mistral", true
	}
	service, ok = LLMServiceNamed(provider)
	return service, open, ok
}
