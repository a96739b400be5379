package telemetry

import "strings"

// providerOf returns gen_ai.provider.name for the name of a model. A model that is not known by its name has none.
func providerOf(model string) string {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, known := range []struct{ prefix, provider string }{
		{"claude", "anthropic"}, {"gpt-", "openai"}, {"chatgpt", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
		{"gemini", "gcp.gemini"}, {"mistral", "mistral_ai"}, {"deepseek", "deepseek"}, {"grok", "x_ai"}, {"command", "cohere"},
	} {
		if strings.HasPrefix(name, known.prefix) {
			return known.provider
		}
	}
	return ""
}
